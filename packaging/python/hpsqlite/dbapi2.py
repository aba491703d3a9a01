"""The DB-API module on hpsqlite, for Pythons whose own sqlite3 has a SQLite inside.

The names are those of `sqlite3`. The extension is pysqlite3's, compiled for each Python that the wheel was
built for. It asks the loader for libsqlite3.so.0 and so takes the one that is in the process already;
RTLD_DEEPBIND puts that before equal names that a static Python exports.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys

import _hpsqlite_preload as _preload

from hpsqlite import _watch


# musl has no such thing, nor static Pythons that export SQLite's names.
DEEPBIND = getattr(os, "RTLD_DEEPBIND", 0)


def _load_extension() -> None:
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    if not os.path.exists(os.path.join(_preload.FOLDER, f"_sqlite3{suffix}")):
        version = "%d.%d" % sys.version_info[:2]
        raise ImportError(
            f"hpsqlite.dbapi2: this wheel has no extension for {sys.implementation.name} {version} (no _sqlite3{suffix})"
        )
    # The library with DEEPBIND, too: it calls its own functions by name.
    flags = os.RTLD_NOW | DEEPBIND
    handle = _preload.loaded_handle()
    if handle is None:
        try:
            handle = _preload.opened(_preload.LIBRARY, DEEPBIND)
        except OSError as error:
            raise ImportError(f"hpsqlite.dbapi2: {_preload._unfit(error)}") from None
    if not _preload.address(handle, "hp_fetch"):
        raise ImportError(
            f"hpsqlite.dbapi2: the process has already loaded another SQLite, {_preload.file_of(handle)}, "
            "under the same name: import hpsqlite before what uses it"
        )
    before = sys.getdlopenflags()
    sys.setdlopenflags(flags)
    try:
        import hpsqlite._sqlite3  # noqa: F401
    finally:
        sys.setdlopenflags(before)
    if _preload.has_own:
        _watch.begin()


_load_extension()

from hpsqlite._constants import *  # noqa: E402, F403
from hpsqlite._pysqlite import *  # noqa: E402, F403
from hpsqlite._pysqlite import Connection as _Connection  # noqa: E402
from hpsqlite._pysqlite import connect as _connect  # noqa: E402


class Connection(_Connection):
    __doc__ = _Connection.__doc__

    def blobopen(self, table, column, row, /, *, readonly=False, name="main"):
        """Opens one BLOB, to read and write parts of it."""
        return self.open_blob(table, column, row, readonly, name)

    def iterdump(self, **options):
        """Iterates over the SQL text that makes the database again."""
        import sysconfig

        # From its file: `import sqlite3.dump` would load the other SQLite.
        path = os.path.join(sysconfig.get_path("stdlib"), "sqlite3", "dump.py")
        spec = importlib.util.spec_from_file_location("hpsqlite._dump", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module._iterdump(self, **options)


def connect(*args, **kwargs):
    if len(args) < 6:
        kwargs.setdefault("factory", Connection)
    return _connect(*args, **kwargs)


connect.__doc__ = _connect.__doc__

def _blob_type():
    # The extension gives it no name.
    connection = connect(":memory:")
    connection.execute("CREATE TABLE t(b)")
    connection.execute("INSERT INTO t VALUES(zeroblob(1))")
    with connection.blobopen("t", "b", 1) as blob:
        return type(blob)


Blob = _blob_type()

# sqlite3 is a package whose module dbapi2 has the same names.
dbapi2 = sys.modules[__name__]
