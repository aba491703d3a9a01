"""`run`: a program in this process, as Python itself would run it."""

from __future__ import annotations

import os
import runpy
import sys
import types
from importlib.machinery import SourceFileLoader


def run_module(name: str, arguments: list[str]) -> None:
    # The current folder is first in sys.path already, as for `python -m`.
    sys.argv = [name, *arguments]
    # As `python -m` does it: the module is the real __main__, which threads and pickle rely on.
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def run_file(path: str, arguments: list[str]) -> None:
    sys.argv = [path, *arguments]
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        _leave_first_folder()
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.exit(f"hpsqlite: cannot open {path!r}: {error.strerror}; name a Python program")
    if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    path = os.path.abspath(path)
    code = compile(source, path, "exec")
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __file__=path, __cached__=None, __builtins__=__builtins__, __loader__=SourceFileLoader("__main__", path)
    )
    if hasattr(sys.modules["__main__"], "__annotations__"):
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _leave_first_folder() -> None:
    """Removes the folder that `-m` put first in sys.path; the program's own takes its place."""
    if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
        del sys.path[0]
