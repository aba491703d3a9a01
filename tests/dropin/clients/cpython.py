"""CPython's own test_sqlite3 on whatever libsqlite3.so.0 the loader finds.

cpython.py FOLDER-OF-SQL runs `python3 -m test test_sqlite3` inside this very
process, so that the library that ask.py names is the one the tests used, and
prints a line for each test. Before it asks the queries that the other clients ask.
"""
import runpy
import sys
import xml.etree.ElementTree as ElementTree

from ask import ask

ask(sys.argv[1], "python.db")

sys.argv = ["test", "-v", "--junit-xml", "results.xml", "test_sqlite3"]
try:
    with open("suite.log", "w") as sys.stdout:
        runpy.run_module("test", run_name="__main__")
except SystemExit:
    pass
finally:
    sys.stdout = sys.__stdout__

for case in ElementTree.parse("results.xml").getroot().iter("testcase"):
    outcome = {child.tag: (child.text or child.get("message") or "") for child in case}
    name = case.get("name").removeprefix("test.test_sqlite3.")
    if "failure" in outcome or "error" in outcome:
        text = outcome.get("failure", outcome.get("error", "")).strip().splitlines()
        print(name, "FAIL: " + (text[-1] if text else ""), sep="\t")
    elif "skipped" in outcome:
        print(name, "SKIP: " + outcome["skipped"], sep="\t")
    else:
        print(name, "ok", sep="\t")
print("@end")
