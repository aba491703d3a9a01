"""A plugin for pytest (-p results_pytest): results, a line a test, in the file that RESULTS names;
README.md says how lines look. A test whose fixtures fail, before or after it, has failed."""

import os
import sqlite3

results = open(os.environ["RESULTS"], "a")
worst = {}


def one_line(text):
    return " ".join(str(text).split())[-500:]


def pytest_runtest_logreport(report):
    if report.failed:
        worst[report.nodeid] = f"FAIL: {report.when}: {one_line(report.longreprtext)}"
    elif report.skipped and not worst.get(report.nodeid, "").startswith("FAIL"):
        # A test that fails as it is expected to is "skipped", and has the reason in wasxfail.
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", "")
        worst[report.nodeid] = "ok" if hasattr(report, "wasxfail") else f"SKIP: {one_line(reason)}"
    elif report.when == "call":
        worst.setdefault(report.nodeid, "ok")
    if report.when == "teardown":
        print(report.nodeid, worst.pop(report.nodeid, "FAIL: no result"), sep="\t", file=results, flush=True)


def pytest_sessionfinish(session, exitstatus):
    # 0: all passed, 1: some failed; anything else stopped it.
    if exitstatus in (0, 1) and not session.shouldfail and not session.shouldstop:
        source_id = sqlite3.connect(":memory:").execute("SELECT sqlite_source_id()").fetchone()[0]
        print("@source_id", source_id, sep="\t", file=results)
        print("@end", session.testscollected, sep="\t", file=results, flush=True)
