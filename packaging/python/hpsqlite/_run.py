"""`run`: a program in this process, as Python itself would run it."""

from __future__ import annotations

import os
import runpy
import sys
import types
from importlib.machinery import SourceFileLoader


def _new_main(**attributes: object) -> types.ModuleType:
    """Puts an empty module in the place of ours."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=__builtins__, **attributes)
    if hasattr(sys.modules["__main__"], "__annotations__"):
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


def run_module(name: str, arguments: list[str]) -> None:
    # The current folder is first in sys.path already, as for `python -m`.
    sys.argv = [name, *arguments]
    _new_main()
    # What `python -m` itself calls: the module is the real __main__, which threads and pickle rely on.
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def run_file(path: str, arguments: list[str]) -> None:
    sys.argv = [path, *arguments]
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        _first_folder(os.path.abspath(path), always=True)
        _new_main()
        runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.exit(f"hpsqlite: cannot open {path!r}: {error.strerror}; name a Python program")
    _first_folder(os.path.dirname(os.path.realpath(path)), always=False)
    path = os.path.abspath(path)
    code = compile(source, path, "exec")
    main = _new_main(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))
    exec(code, main.__dict__)


def _first_folder(folder: str, always: bool) -> None:
    """Puts a folder first in sys.path, where `-m` has put the current one."""
    if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
        sys.path[0] = folder
    elif always:
        sys.path.insert(0, folder)
