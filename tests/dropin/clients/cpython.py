"""CPython's own test_sqlite3 on whatever libsqlite3.so.0 the loader finds.

cpython.py FOLDER-OF-SQL runs `python3 -m test test_sqlite3` inside this very
process, so that the library named below is the one the tests used, and prints
a line for each test. It then asks the queries that the other clients ask.
"""
import re
import runpy
import sqlite3
import sys
import xml.etree.ElementTree as ElementTree

here = sys.argv[1]
db = sqlite3.connect("python.db")
with open("/proc/self/maps") as maps:
    print("@library", re.search(r"\S*libsqlite3\S*", maps.read())[0], sep="\t")
print("@source_id", *db.execute("SELECT sqlite_source_id()").fetchone(), sep="\t")
try:
    print("@hp_version", *db.execute("SELECT hp_version()").fetchone(), sep="\t")
except sqlite3.OperationalError:
    print("@hp_version", "none", sep="\t")

with open(f"{here}/setup.sql") as setup:
    for sql in setup:
        if not sql.startswith("--"):
            db.execute(sql)
db.commit()
plan = db.execute("EXPLAIN QUERY PLAN SELECT kind, sum(qty) FROM item GROUP BY kind")
print("@plan", "; ".join(row[3] for row in plan), sep="\t")
with open(f"{here}/queries.sql") as queries:
    for i, sql in enumerate(queries):
        try:
            answer = db.execute(sql).fetchall()
        except sqlite3.Error as error:
            answer = error
        print(f"query {i}", repr(answer), sep="\t")
print("integrity", db.execute("PRAGMA integrity_check").fetchall(), sep="\t")
db.close()
sys.stdout.flush()

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
