"""What Python's sqlite3 answers: ask.py FOLDER-OF-SQL. Begins with the library, as the clients of tests/dropin do."""

import sqlite3
import sys
from pathlib import Path


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("--")]


def main() -> None:
    folder = Path(sys.argv[1])
    db = sqlite3.connect(":memory:")
    maps = Path("/proc/self/maps").read_text().splitlines()
    print("@library", next(line.split()[-1] for line in maps if "libsqlite3" in line), sep="\t")
    try:
        print("@hp_version", db.execute("SELECT hp_version()").fetchone()[0], sep="\t")
    except sqlite3.OperationalError:
        print("@hp_version", "none", sep="\t")
    for sql in lines(folder / "setup.sql"):
        db.execute(sql)
    for number, sql in enumerate(lines(folder / "queries.sql")):
        try:
            print(f"query {number}", db.execute(sql).fetchall(), sep="\t")
        except sqlite3.Error as error:
            print(f"query {number}", error, sep="\t")
    print("@end")


main()
