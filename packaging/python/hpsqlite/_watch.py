"""A warning when the standard module loads a SQLite that is not ours."""

from __future__ import annotations

import sys
import warnings

import _hpsqlite_preload


def message() -> str:
    text = f"sqlite3 stays as it was: {_hpsqlite_preload.reason}; use hpsqlite.dbapi2 in its place"
    if "hpsqlite._sqlite3" in sys.modules:
        text += (
            ". hpsqlite.dbapi2 is in use as well: a file that both have open loses its locks when either"
            " closes it, and can be damaged"
        )
    return text


class _Finder:
    """Finds nothing, but sees that _sqlite3 is looked for."""

    # It stays in the list: whoever leaves while it is gone through hides the next finder.
    has_warned = False

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "_sqlite3" and not self.has_warned:
            self.has_warned = True
            # The frame that imports sqlite3 is behind those of sqlite3 itself.
            warnings.warn(message(), RuntimeWarning, stacklevel=4)


def begin() -> None:
    """Warns now if the module is loaded, else when it comes."""
    if "_sqlite3" in sys.modules:
        warnings.warn(message(), RuntimeWarning, stacklevel=3)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
