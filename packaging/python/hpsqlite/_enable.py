"""`enable` and `disable`: a .pth file, which Python reads when it starts."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import site
import sys
import tempfile

import _hpsqlite_preload as preload

from hpsqlite import __version__

NAME = "hpsqlite-enabled.pth"
# Tolerant: the file may outlive the package, and Python's start is no place for errors.
LINE = 'import sys; exec("try: import _hpsqlite_preload\\nexcept Exception: pass")\n'


class Refused(Exception):
    """One sentence that says why nothing was changed."""


def _folder() -> str:
    """The site-packages folder in which hpsqlite is installed."""
    folder = os.path.dirname(preload.FOLDER)
    sites = list(site.getsitepackages())
    if site.ENABLE_USER_SITE:
        sites.append(site.getusersitepackages())
    if not any(os.path.exists(each) and os.path.samefile(each, folder) for each in sites):
        raise Refused(
            f"hpsqlite is in {folder}, which is no site-packages folder of {sys.executable}: install it there with pip"
        )
    return folder


def _replace(path: str, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".hpsqlite-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _record(folder: str, listed: bool) -> None:
    """Lists the file as one of the package's, or no longer: pip uninstall removes what is listed."""
    path = os.path.join(folder, f"hpsqlite-{__version__}.dist-info", "RECORD")
    with contextlib.suppress(FileNotFoundError):
        with open(path, "rb") as file:
            before = file.read()
        prefix = f"{NAME},".encode()
        lines = [line for line in before.splitlines(keepends=True) if not line.startswith(prefix)]
        if listed:
            digest = base64.urlsafe_b64encode(hashlib.sha256(LINE.encode()).digest()).rstrip(b"=")
            lines.append(b"%s,sha256=%s,%d\n" % (NAME.encode(), digest, len(LINE)))
        if b"".join(lines) != before:
            _replace(path, b"".join(lines))


def _present(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            content = file.read()
    except FileNotFoundError:
        return False
    if content != LINE:
        raise Refused(f"{path} has other contents than hpsqlite writes: look at it, and remove it yourself")
    return True


def enable() -> str:
    if preload.reason:
        hint = "; programs can use hpsqlite.dbapi2" if preload.has_own else ""
        raise Refused(f"sqlite3 of this Python cannot be given another SQLite: {preload.reason}{hint}")
    folder = _folder()
    path = os.path.join(folder, NAME)
    if _present(path):
        return f"was enabled before ({path})"
    try:
        _replace(path, LINE.encode())
    except OSError as error:
        raise Refused(f"{folder} cannot be written ({error.strerror}): use a virtual environment of your own") from None
    try:
        _record(folder, listed=True)
    except OSError:
        # pip uninstall then leaves the file, which does nothing without the package.
        pass
    return f"enabled: every Python program of {sys.prefix} that starts from now on uses hpsqlite {__version__} ({path})"


def disable() -> str:
    folder = _folder()
    path = os.path.join(folder, NAME)
    if not _present(path):
        return f"was not enabled (there is no {path})"
    try:
        os.unlink(path)
        _record(folder, listed=False)
    except OSError as error:
        raise Refused(f"{folder} cannot be written ({error.strerror}): ask whoever owns it") from None
    return f"disabled: Python programs of {sys.prefix} that start from now on use SQLite as before"
