"""The command line: python -m hpsqlite."""

from __future__ import annotations

import sys

USAGE = """\
usage: python -m hpsqlite COMMAND

  status                   which SQLite sqlite3 runs on, and why
  run FILE [ARG...]        run a program on hpsqlite
  run -m MODULE [ARG...]   run a module on hpsqlite
  enable                   use hpsqlite in every program of this environment
  disable                  no longer
  --version                this package's version
"""


def fail(message: str) -> None:
    print(f"hpsqlite: {message}", file=sys.stderr)
    raise SystemExit(2)


def main(arguments: list[str]) -> None:
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command in ("-h", "--help"):
        print(USAGE, end="")
    elif command == "--version":
        from hpsqlite import __version__

        print(f"hpsqlite {__version__}")
    elif command == "run":
        from hpsqlite import _run

        if rest[:1] == ["-m"] and len(rest) > 1:
            _run.run_module(rest[1], rest[2:])
        elif rest and not rest[0].startswith("-"):
            _run.run_file(rest[0], rest[1:])
        else:
            fail("run needs a file, or -m and a module (see --help)")
    elif command not in ("status", "enable", "disable"):
        fail(f"unknown command {command!r} (see --help)" if command else "no command given (see --help)")
    elif rest:
        fail(f"{command} takes no arguments (see --help)")
    elif command == "status":
        from hpsqlite import status

        print(status())
    else:
        from hpsqlite import _enable

        try:
            print(getattr(_enable, command)())
        except _enable.Refused as refusal:
            print(f"hpsqlite: nothing was changed: {refusal}", file=sys.stderr)
            raise SystemExit(1) from None


main(sys.argv[1:])
