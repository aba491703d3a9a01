"""Shows that compare.py finds what it must find: invented runs, one of which has a fault each."""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
OURS = "2026-01-02 03:04:05 " + 60 * "a" + "alt1"
STOCK = OURS[:-4] + "bbbb"
TESTS = ["a\tok", "b\tok", "c\tFAIL: on stock too", "d\tSKIP: no network"]


def run_of(tests: list[str], source_id: str, loaded: str, end: int | None = None) -> list[str]:
    count = len(tests) if end is None else end
    return [*tests, f"@source_id\t{source_id}", f"@end\t{count}", "@status\t0", f"@loaded\t{loaded}"]


def compared(known: str = "", **runs: list[str]) -> tuple[int, list[str]]:
    """The exit status and lines for good runs, with those of `runs` in their place."""
    good = {
        "stock": run_of(TESTS, STOCK, "0 0"),
        "ours": run_of(TESTS, OURS, "1 0"),
        "forced": run_of(TESTS, OURS, "1 9"),
    }
    with tempfile.TemporaryDirectory() as folder:
        for mode, lines in {**good, **runs}.items():
            Path(folder, f"x-{mode}.results").write_text("".join(f"{line}\n" for line in lines))
        Path(folder, "known").write_text(known)
        done = subprocess.run(
            [sys.executable, HERE / "compare.py", "--client", "x", "--source-id", OURS, "--known", f"{folder}/known", f"{folder}/x"],
            capture_output=True, text=True,
        )
    return done.returncode, (done.stdout + done.stderr).splitlines()


def expect(what: str, says: str, status: int, known: str = "", **runs: list[str]) -> None:
    code, lines = compared(known, **runs)
    assert code == status and any(says in line for line in lines), f"{what}: exit status {code}, no {says!r} in\n" + "\n".join(lines)


def changed(test: str) -> list[str]:
    return [test if line.split("\t")[0] == test.split("\t")[0] else line for line in TESTS]


failing = run_of(changed("b\tFAIL: 1 is not 2"), OURS, "1 9")
expect("three good runs", "4 passed, 0 failed, 4 skipped", 0)
expect("a test that only ours fails", "FAILED: x, ours: b", 1, ours=failing)
expect("a test that only ours forced fails", "FAILED: x, forced: b", 1, forced=failing)
expect("a test that only ours skips", "FAILED: x, ours: a", 1, ours=run_of(changed("a\tSKIP: why"), OURS, "1 0"))
expect("a test that is missing", "FAILED: x, ours: b", 1, ours=run_of([TESTS[0], *TESTS[2:]], OURS, "1 0"))
expect("a test that fails on stock, and is missing", "FAILED: x, ours: c", 1, ours=run_of([*TESTS[:2], TESTS[3]], OURS, "1 0"))
expect("a test that stock has not", "e is not on stock", 1, ours=run_of([*TESTS, "e\tok"], OURS, "1 0"))
expect("no test", "ours: it reports no test", 1, ours=run_of([], OURS, "1 0"))
expect("no test on stock", "stock: it reports no test", 1, stock=run_of([], STOCK, "0 0"))
expect("a run that died half way", "did not get to its end", 1, ours=[TESTS[0], f"@source_id\t{OURS}", "@status\t139"])
expect("a run that dies at its exit", "exit status 139", 1, ours=[*run_of(TESTS, OURS, "1 0"), "@status\t139"])
expect("all runs that died half way", "did not get to its end", 1, stock=TESTS, ours=TESTS, forced=TESTS)
expect("a run that left nothing", "did not get to its end", 1, forced=[])
expect("a runner that counts more", "counts 5 tests, and 4 are reported", 1, ours=run_of(TESTS, OURS, "1 0", end=5))
expect("the system's SQLite", "ran on the SQLite", 1, ours=run_of(TESTS, "2022" + OURS[4:], "1 0"))
expect("stock in place of ours", "ran on the SQLite", 1, ours=run_of(TESTS, STOCK, "1 0"))
expect("ours in place of stock", "ran on the SQLite", 1, stock=run_of(TESTS, OURS, "0 0"))
expect("ours never loaded", "loaded in 0 processes", 1, ours=run_of(TESTS, OURS, "0 0"))
expect("nothing taken over", "nothing was taken over", 1, forced=run_of(TESTS, OURS, "1 0"))
expect("a known failure", "skipped: x, ours: b: as wanted", 0, known="x\tours\tb\tas wanted\n", ours=failing)
expect("the entry for the other mode", "FAILED: x, forced: b", 1, known="x\tours\tb\tas wanted\n", ours=failing, forced=failing)
expect("a stale entry", "b is in the list of known failures, and is not one", 1, known="x\tours\tb\tas wanted\n")
expect("an entry without a reason", "write client,", 1, known="x\tours\tb\t\n")
expect("a test that fails by chance, and does", "2 passed, 0 failed, 6 skipped", 0, known="x\tchance\tb\ttime\n", ours=failing)
expect("a test that fails by chance, and does not", "2 passed, 0 failed, 6 skipped", 0, known="x\tchance\tb\ttime\n")
expect("a test that fails by chance, and is missing", "FAILED: x, ours: b", 1, known="x\tchance\tb\ttime\n", ours=run_of([TESTS[0], *TESTS[2:]], OURS, "1 0"))
expect("a test by chance that there is not", "z is in the list", 1, known="x\tchance\tz\ttime\n")
