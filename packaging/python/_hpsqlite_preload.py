"""Loads the wheel's SQLite so that the standard module `sqlite3` finds it.

Where Python links SQLite dynamically, its module `_sqlite3` asks the loader for the name
libsqlite3.so.0, and the loader gives it the library that already has this name in the process.
So ours is loaded first. It is loaded for its users only (RTLD_LOCAL): for all, its functions would
also take the place of equal names inside modules that carry another SQLite.

A module of its own, because the .pth file that `python -m hpsqlite enable` writes imports it whenever
Python starts: it imports as little as it can, and never raises.
"""

import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hpsqlite")
SONAME = "libsqlite3.so.0"
LIBRARY = os.path.join(FOLDER, SONAME)
VERSION = "0"  # The build puts the workspace's version here,
PLATFORM = "linux_x86_64"  # and the wheel's tag here.

# Why `sqlite3` does not run on ours, in one sentence; empty if it does.
reason = ""
# Whether that is how this Python was built, so that only hpsqlite.dbapi2 helps.
has_own = False


def opened(name, flags=0):
    """The handle of a library; with RTLD_NOLOAD only if it is loaded already."""
    try:
        # ctypes itself imports much more than this function.
        from _ctypes import dlopen
    except ImportError:
        from ctypes import CDLL

        return CDLL(name, mode=flags | os.RTLD_NOW)._handle
    return dlopen(name, flags | os.RTLD_NOW)


def address(handle, symbol):
    """Where the library of the handle, or one that it needs, has the symbol; 0 if nowhere."""
    try:
        from _ctypes import dlsym

        return dlsym(handle, symbol)
    except (ImportError, OSError):
        return 0


def loaded_handle():
    """The library that has the name libsqlite3.so.0 in this process, or None."""
    try:
        return opened(SONAME, os.RTLD_NOLOAD)
    except OSError:
        return None


def file_at(where):
    """The file that is mapped at an address."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.split(None, 5)
            start, end = (int(part, 16) for part in fields[0].split("-"))
            if start <= where < end:
                return fields[5].rstrip("\n") if len(fields) > 5 else None
    return None


def file_of(handle):
    """The file from which a library's SQLite comes."""
    return file_at(address(handle, "sqlite3_libversion"))


def hp_version(handle):
    """What SELECT hp_version() gives on a library of ours."""
    import ctypes

    library = ctypes.CDLL(None, handle=handle)
    database, statement = ctypes.c_void_p(), ctypes.c_void_p()
    library.sqlite3_column_text.restype = ctypes.c_char_p
    try:
        library.sqlite3_open(b":memory:", ctypes.byref(database))
        library.sqlite3_prepare_v2(database, b"SELECT hp_version()", -1, ctypes.byref(statement), None)
        library.sqlite3_step(statement)
        return library.sqlite3_column_text(statement, 0).decode()
    finally:
        library.sqlite3_finalize(statement)
        library.sqlite3_close(database)


def needs_library(path):
    """Whether an extension module asks the loader for libsqlite3.so.0."""
    with open(path, "rb") as module:
        return SONAME.encode() + b"\0" in module.read()


def _own_sqlite():
    """Why the standard module cannot be reached; None if it can."""
    if "_sqlite3" in sys.builtin_module_names:
        return f"{sys.executable} has a SQLite of its own inside, which cannot be replaced"
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("_sqlite3")
    if spec is None or not spec.origin:
        return "this Python was built without the module _sqlite3"
    if not needs_library(spec.origin):
        return f"{spec.origin} has a SQLite of its own inside, or loads one that is not named {SONAME}"
    return None


def _is_for_musl():
    return PLATFORM.startswith("musllinux")


def _unfit(error):
    """Why the library could not be loaded."""
    system = os.uname()
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        libc = ""
    machine = "aarch64" if PLATFORM.endswith("_aarch64") else "x86_64"
    wanted = "musl" if _is_for_musl() else "glibc"
    if system.sysname != "Linux" or system.machine != machine or bool(libc) != (wanted == "glibc"):
        return (
            f"this wheel is for Linux on {machine.replace('_', '-')} with {wanted}, and this is "
            f"{system.sysname} on {system.machine} with {libc or 'another C library, such as musl'}"
        )
    return f"the wheel's library cannot be loaded ({error})"


def _given():
    """The library that `hpsqlite exec` names in the environment; it watches for that very file."""
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        library = os.path.join(folder, SONAME)
        if folder and os.path.exists(library):
            auditor = os.path.join(folder, "../libexec/hpsqlite/hpsqlite-loaded.so")
            return library if os.path.exists(auditor) else None
    return None


def _load():
    global has_own
    own = _own_sqlite()
    if own:
        has_own = True
        return own
    if _is_for_musl() and not _given():
        # There a library that was loaded by its path does not answer to its name.
        has_own = True
        return "musl's dynamic linker cannot be given another library from within a program: run it below `hpsqlite exec`"
    handle = loaded_handle()
    if handle is None:
        try:
            handle = opened(_given() or LIBRARY)
        except OSError as error:
            return _unfit(error)
    path = file_of(handle)
    if path == LIBRARY or path and os.path.exists(path) and os.path.samefile(path, LIBRARY):
        return ""
    if address(handle, "hp_fetch"):
        # Ours, but another file, as below `hpsqlite exec`.
        theirs = hp_version(handle)
        if theirs == VERSION:
            return ""
        return (
            f"the process already runs hpsqlite {theirs} from {path}, and this wheel is {VERSION}: "
            "keep one of the two"
        )
    if "_sqlite3" in sys.modules:
        return f"sqlite3 was imported before hpsqlite and runs on {path}: import hpsqlite first"
    return f"the process has already loaded another SQLite, {path}: import hpsqlite before what uses it"


try:
    reason = _load()
except Exception as error:  # Python's start must not fail.
    reason = f"hpsqlite could not look at this process ({error})"
