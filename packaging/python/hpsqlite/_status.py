"""Which SQLite this process really uses."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass

import _hpsqlite_preload as preload


@dataclass(frozen=True)
class Status:
    """What `sqlite3` runs on in this process."""

    file: str | None
    """The file that has the SQLite in it; None if there is none."""
    version: str | None
    """Its SQLite version."""
    hp_version: str | None
    """What SELECT hp_version() gives; None on a SQLite that is not ours."""
    reason: str
    """Why it is this one, in one sentence."""
    enabled: bool = False
    """Whether `enable` is in force for the environment, and so every program of it starts on ours."""
    off: bool = False
    """Whether it is ours, but HPSQLITE in the environment leaves all queries to SQLite's own code."""

    def __str__(self) -> str:
        if self.enabled:
            environment = f"enabled: every Python program of {sys.prefix} uses hpsqlite"
        else:
            environment = f"not enabled: programs of {sys.prefix} use hpsqlite only if they import it (enable changes that)"
        if self.version is None:
            return f"{environment}\nthis process: no SQLite\nwhy: {self.reason}"
        ours = f"hpsqlite {self.hp_version}" if self.hp_version else "not hpsqlite"
        if self.off:
            ours += f", off by HPSQLITE={os.environ.get('HPSQLITE', '')}"
        return f"{environment}\nthis process: SQLite {self.version}, {ours}\nfile: {self.file}\nwhy: {self.reason}"


def status() -> Status:
    """Looks at the connection that `import sqlite3` gives, and so imports it."""
    with warnings.catch_warnings():
        # The same is in the answer.
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            import sqlite3
        except ImportError as error:
            # Python was built without it.
            return Status(None, None, None, preload.reason or str(error), _enabled())
    connection = sqlite3.connect(":memory:")
    try:
        version = connection.execute("SELECT sqlite_version()").fetchone()[0]
        try:
            hp_version = connection.execute("SELECT hp_version()").fetchone()[0]
        except sqlite3.OperationalError:
            hp_version = None
        off = hp_version is not None and connection.execute("PRAGMA hp_offload").fetchone()[0] == "off"
    finally:
        connection.close()
    dbapi2 = sys.modules.get("hpsqlite.dbapi2")
    replaced = dbapi2 is not None and sqlite3 is dbapi2
    file = _file("hpsqlite._sqlite3" if replaced else "_sqlite3")
    if replaced:
        reason = "sqlite3 is hpsqlite.dbapi2 in this process"
    elif not hp_version:
        reason = preload.reason or "another SQLite came first"
    elif file and os.path.exists(file) and os.path.samefile(file, preload.LIBRARY):
        reason = "the wheel's library was loaded before sqlite3 was imported"
    else:
        reason = "this process was given another copy of the library, as `hpsqlite exec` does"
    return Status(file, version, hp_version, reason, _enabled(), off)


def _enabled() -> bool:
    """Whether the file that `enable` writes lies beside the package."""
    from hpsqlite import _enable

    try:
        with open(os.path.join(os.path.dirname(preload.FOLDER), _enable.NAME), encoding="utf-8") as file:
            return file.read() == _enable.LINE
    except (OSError, UnicodeDecodeError):
        return False


def _file(module_name: str) -> str | None:
    """The file with the SQLite that an extension module calls."""
    module_file = getattr(sys.modules.get(module_name), "__file__", None)
    program = preload.opened(None)
    if module_file is None or (
        # What the program itself exports comes first, except for ours.
        module_name == "_sqlite3" and preload.address(program, "sqlite3_libversion")
    ):
        return preload.file_of(program) or os.path.realpath(sys.executable)
    return preload.file_of(preload.opened(module_file)) or module_file
