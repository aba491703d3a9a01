"""Files that the system has not in its cache."""

import ctypes
import mmap
import os
import sys

TOLERATED = 0.01  # The system keeps a page that is just in use
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]


def resident(fd):
    """The share of an open file that is in memory. Looking does not read any of it."""
    size = os.fstat(fd).st_size
    pages = -(-size // mmap.PAGESIZE)
    at = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    if at == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    state = ctypes.create_string_buffer(pages)
    failed = libc.mincore(at, size, state)
    libc.munmap(at, size)
    if failed:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(byte & 1 for byte in state.raw[:pages]) / pages


def forget(path):
    """Drops a file from the system's cache and makes sure of it."""
    fd = os.open(path, os.O_RDONLY)
    try:
        for _ in range(5):
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            if resident(fd) <= TOLERATED:
                return
    finally:
        os.close(fd)
    sys.exit(f"{path} stays in the system's cache: another program has it mapped, "
             "or its file system is in memory")
