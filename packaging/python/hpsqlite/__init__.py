"""High Performance SQLite for Python: `import hpsqlite` before `import sqlite3`.

`hpsqlite.status()` says which SQLite the process uses, and why. `python -m hpsqlite --help` lists
what can be done without a change of the program.
"""

from __future__ import annotations

import warnings

import _hpsqlite_preload
from _hpsqlite_preload import VERSION as __version__

__all__ = ["Status", "__version__", "status"]

if _hpsqlite_preload.has_own:
    # Only hpsqlite.dbapi2 helps here, and whoever imports it needs no warning until sqlite3 comes, too.
    from hpsqlite import _watch

    _watch.begin()
elif _hpsqlite_preload.reason:
    warnings.warn(f"sqlite3 stays as it was: {_hpsqlite_preload.reason}", RuntimeWarning, stacklevel=2)


def __getattr__(name: str):
    # Its imports are not for every start of a program.
    if name in ("Status", "status"):
        import hpsqlite._status as module

        return getattr(module, name)
    raise AttributeError(f"module 'hpsqlite' has no attribute {name!r}")
