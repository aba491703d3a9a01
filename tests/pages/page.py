"""Runs a page of docs/: its programs and its commands, as they stand in it.

page.py PAGE FOLDER prints a line for each command, and the result as
`N passed, N failed, N skipped` at its end.

* A fenced block behind a line that ends in "`NAME`:" is a file. It is written to FOLDER, and
  a later command must name it.
* In a block ```console each line that begins with "$ " is a command for bash in FOLDER, and
  lines that begin with "> " go on with it. The lines below are what it prints, on standard
  output and standard error. "…" in a line stands for any text, and alone for any lines.
* "…/hpsqlite" in a command or a file is the checkout. "sudo" is left out.
* A command must end with status 0, or the page must show the whole of what it prints.
* "<!-- not run: REASON -->" before a block leaves it out, and "<!-- nightly -->" does so unless
  FULL=1 is in the environment. "<!-- a drawing -->" is for a block that is none of these.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

DRAWING = "a drawing"
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Block:
    """A fenced block: where it begins, its language, the file it is, why it is left out."""

    line: int
    language: str
    name: str | None
    reason: str | None
    text: list[str] = field(default_factory=list)


def blocks(lines: list[str]) -> list[Block]:
    """The fenced blocks of a page."""
    found: list[Block] = []
    inside: Block | None = None
    name = reason = None
    for number, line in enumerate(lines, 1):
        if inside and line == "```":
            inside = name = reason = None
        elif inside:
            inside.text.append(line)
        elif line.startswith("```"):
            inside = Block(number, line[3:], name, reason)
            found.append(inside)
        elif left_out := re.fullmatch(r"<!-- not run: (.*) -->", line):
            reason = left_out[1]
        elif line == "<!-- nightly -->":
            reason = None if os.environ.get("FULL") == "1" else "it runs with FULL=1"
        elif line == "<!-- a drawing -->":
            reason = DRAWING
        elif line:
            name = named[1] if (named := re.search(r"`([\w./-]+)`:$", line)) else None
            reason = None
    return found


def commands(text: list[str]) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that it shall print."""
    all_of_them: list[tuple[str, list[str]]] = []
    for line in text:
        if line.startswith("$ "):
            all_of_them.append((line[2:], []))
        elif not all_of_them:
            sys.exit(f"page.py: a console block begins with {line!r}, which is no command")
        elif line.startswith("> ") and not all_of_them[-1][1]:
            all_of_them[-1] = (f"{all_of_them[-1][0]}\n{line[2:]}", [])
        else:
            all_of_them[-1][1].append(line)
    return all_of_them


def pattern(expected: list[str]) -> str:
    """What the lines stand for, as a regular expression."""
    parts = (
        "(?:.*\n)*" if line == "…" else ".*".join(map(re.escape, real(line).split("…"))) + "\n"
        for line in expected
    )
    return "".join(parts)


def real(text: str) -> str:
    """The text with the checkout's own path."""
    return text.replace("…/hpsqlite", str(ROOT))


class Page:
    """A page that is being run, and what came of it."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder = path, folder
        self.passed = self.failed = self.skipped = 0
        self.unused: dict[str, int] = {}

    def fail(self, line: int, what: str, why: str) -> None:
        self.failed += 1
        indented = "\n".join(f"    {each}" for each in why.splitlines()[:30])
        print(f"FAILED: {self.path.name}, line {line}: {what}\n{indented}", flush=True)

    def write(self, block: Block) -> None:
        if block.name is None:
            self.fail(block.line, "a block that is no file", "the line before it must end in `NAME`:")
            return
        file = self.folder / block.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(real("\n".join(block.text) + "\n"))
        self.unused[block.name] = block.line

    def named(self, command: str) -> None:
        """Each file that the command names is used."""
        for name in list(self.unused):
            if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", command):
                del self.unused[name]

    def run(self, line: int, command: str, expected: list[str]) -> None:
        self.named(command)
        shown = command.splitlines()[0]
        ran = subprocess.run(
            ["bash", "-c", real(re.sub(r"\bsudo ", "", command))],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        said = ran.stdout if ran.stdout.endswith("\n") or not ran.stdout else ran.stdout + "\n"
        if not re.fullmatch(pattern(expected), said):
            wanted = "\n".join(expected)
            self.fail(line, f"$ {shown}", f"the page says\n{wanted}\nit printed\n{said}")
        elif ran.returncode != 0 and (not expected or "…" in expected):
            self.fail(line, f"$ {shown}", f"exit status {ran.returncode}, having printed\n{said}")
        else:
            self.passed += 1
            print(f"ok: $ {shown}", flush=True)

    def finish(self) -> None:
        for name, line in self.unused.items():
            self.fail(line, name, "no command of the page uses this file")
        if self.passed == 0:
            self.fail(1, "the page", "it has no command")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(self.failed > 0)


def main() -> None:
    path, folder = Path(sys.argv[1]), Path(sys.argv[2])
    page = Page(path, folder)
    os.environ["LC_ALL"] = "C.UTF-8"
    for block in blocks(path.read_text().splitlines()):
        if block.reason == DRAWING:
            continue
        if block.reason:
            page.skipped += 1
            page.named("\n".join(block.text))
            print(f"skipped: line {block.line}: {block.reason}", flush=True)
        elif block.language == "console":
            for command, expected in commands(block.text):
                page.run(block.line, command, expected)
        else:
            page.write(block)
    page.finish()


if __name__ == "__main__":
    main()
