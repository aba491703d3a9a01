"""What Python's sqlite3 answers on whatever libsqlite3.so.0 the loader finds.

ask.py FOLDER-OF-SQL names the library and asks the queries that all clients ask.
cpython.py begins with it; tests/debian runs it alone.
"""
import re
import sqlite3
import sys


def ask(folder, database=":memory:"):
    db = sqlite3.connect(database)
    with open("/proc/self/maps") as maps:
        print("@library", re.search(r"\S*libsqlite3\S*", maps.read())[0], sep="\t")
    print("@source_id", *db.execute("SELECT sqlite_source_id()").fetchone(), sep="\t")
    try:
        print("@hp_version", *db.execute("SELECT hp_version()").fetchone(), sep="\t")
    except sqlite3.OperationalError:
        print("@hp_version", "none", sep="\t")

    with open(f"{folder}/setup.sql") as setup:
        for sql in setup:
            if not sql.startswith("--"):
                db.execute(sql)
    db.commit()
    plan = db.execute("EXPLAIN QUERY PLAN SELECT kind, sum(qty) FROM item GROUP BY kind")
    print("@plan", "; ".join(row[3] for row in plan), sep="\t")
    with open(f"{folder}/queries.sql") as queries:
        for i, sql in enumerate(queries):
            try:
                answer = db.execute(sql).fetchall()
            except sqlite3.Error as error:
                answer = error
            print(f"query {i}", repr(answer), sep="\t")
    print("integrity", db.execute("PRAGMA integrity_check").fetchall(), sep="\t")
    db.close()
    sys.stdout.flush()


if __name__ == "__main__":
    ask(sys.argv[1])
    print("@end")
