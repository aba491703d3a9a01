"""Compares the results of one client's tests on stock SQLite, on ours, and on ours forced.

    compare.py --client NAME --source-id ID --known FILE PREFIX

reads PREFIX-stock.results, PREFIX-ours.results and PREFIX-forced.results. A line is the name of a
test, a tab, and `ok`, `FAIL: why` or `SKIP: why`. Lines that begin with @ are facts:

    @source_id  sqlite_source_id(), asked through the client
    @loaded     processes at whose end our library wrote a line, and the scans it had taken over
    @end        the runner got to its end, and how many tests it says it ran

A run counts only if it got to its end, reports as many tests as its runner counted (at least one),
and ran on the library that it is named after. The forced run must have taken something over. Then
each test that passes on stock must pass on ours. A test that fails on stock too, or is skipped there, is counted as skipped. What ours alone
fails must be in FILE, whose lines are `client<tab>mode<tab>test<tab>reason`; an entry that no
failure matches is a failure too. With the mode `chance` a test is skipped on both, for it fails by
chance, on stock too; the entry must name a test that there is. The last line is 'N passed, N failed, N skipped'.
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

MODES = ("ours", "forced")
CHANCE = "chance"


@dataclass
class Run:
    """One run: what became of each test, and the facts about it."""

    mode: str
    tests: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)

    def broken(self, source_id: str) -> str:
        """Why nothing can be said about this run; empty if it counts."""
        if "end" not in self.facts:
            return f"it did not get to its end (exit status {self.facts.get('status', 'unknown')})"
        # Runners count failures in it, mocha does; a shell gives 128 and more if a signal ended it.
        if not self.facts.get("status", "").isdigit() or int(self.facts["status"]) >= 126:
            return f"it ended with the exit status {self.facts.get('status', 'unknown')}"
        if not self.tests:
            return "it reports no test"
        if not self.facts["end"].isdigit() or int(self.facts["end"]) != len(self.tests):
            return f"its runner counts {self.facts['end'] or 'no'} tests, and {len(self.tests)} are reported"
        # Ours has SQLite's source id but for its last four characters.
        want, have = source_id, self.facts.get("source_id", "")
        if have[:-4] != want[:-4] or (have == want) == (self.mode == "stock"):
            return f"it ran on the SQLite '{have}'"
        processes, _, scans = self.facts.get("loaded", "0 0").partition(" ")
        if (processes == "0") != (self.mode == "stock"):
            return f"our library was loaded in {processes} processes"
        if self.mode == "forced" and scans == "0":
            return "nothing was taken over"
        return ""


def read_run(path: Path, mode: str) -> Run:
    run = Run(mode)
    text = path.read_text(errors="replace") if path.exists() else ""
    for line in text.splitlines():
        name, _, result = line.partition("\t")
        if name.startswith("@"):
            run.facts[name[1:]] = result
            continue
        # A name that comes twice, as TAP and phpt have it, is two tests.
        again = 2
        unique = name
        while unique in run.tests:
            unique = f"{name} ({again})"
            again += 1
        run.tests[unique] = result
    return run


def read_known(path: Path, client: str) -> dict[tuple[str, str], str]:
    """The known failures of a client: (mode, test) and the reason. Bad lines end the program."""
    known: dict[tuple[str, str], str] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 4 or parts[1] not in (*MODES, CHANCE) or not parts[3].strip():
            sys.exit(f"{path}:{number}: write client, {', '.join(MODES)} or {CHANCE}, test and reason, with tabs between")
        if parts[0] == client:
            known[parts[1], parts[2]] = parts[3]
    return known


def compare(client: str, runs: dict[str, Run], known: dict[tuple[str, str], str], source_id: str) -> tuple[list[str], int, int, int]:
    """The lines to print, and how many tests passed, failed and were skipped."""
    lines: list[str] = []
    passed = failed = skipped = 0
    for run in runs.values():
        if why := run.broken(source_id):
            lines.append(f"FAILED: {client}, {run.mode}: {why}")
            failed += 1
    if failed:
        return lines, 0, failed, 0

    stock = runs["stock"].tests
    used: set[tuple[str, str]] = set()
    for mode in MODES:
        tests = runs[mode].tests
        bad = good = left = 0
        for name, want in stock.items():
            have = tests.get(name, "missing")
            if (CHANCE, name) in known and have != "missing":
                used.add((CHANCE, name))
                left += 1
            elif want == "ok" and have == "ok":
                good += 1
            elif want.startswith("SKIP:") or (want.startswith("FAIL:") and have != "missing"):
                left += 1
            elif (mode, name) in known:
                used.add((mode, name))
                lines.append(f"skipped: {client}, {mode}: {name}: {known[mode, name]}")
                left += 1
            else:
                lines += [f"FAILED: {client}, {mode}: {name}", f"    stock: {want[:600]}", f"    ours:  {have[:600]}"]
                bad += 1
        for name in tests.keys() - stock.keys():
            lines.append(f"FAILED: {client}, {mode}: {name} is not on stock")
            bad += 1
        scans = runs[mode].facts["loaded"].split()[1]
        lines.append(f"{client}, {mode}: {good} as on stock, {bad} not, {left} skipped; {scans} scans taken over")
        passed, failed, skipped = passed + good, failed + bad, skipped + left
    for mode, name in known.keys() - used:
        lines.append(f"FAILED: {client}, {mode}: {name} is in the list of known failures, and is not one: remove it")
        failed += 1
    both = sum(result.startswith("FAIL:") for result in stock.values())
    skips = sum(result.startswith("SKIP:") for result in stock.values())
    lines.append(f"{client}, stock: {len(stock)} tests, of which {both} fail and {skips} are skipped on stock too")
    return lines, passed, failed, skipped


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares a client's results on stock and on ours.")
    parser.add_argument("--client", required=True)
    parser.add_argument("--source-id", required=True)
    parser.add_argument("--known", type=Path, required=True)
    parser.add_argument("prefix")
    given = parser.parse_args()
    runs = {mode: read_run(Path(f"{given.prefix}-{mode}.results"), mode) for mode in ("stock", *MODES)}
    lines, passed, failed, skipped = compare(given.client, runs, read_known(given.known, given.client), given.source_id)
    print(*lines, sep="\n")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
