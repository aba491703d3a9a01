"""The SQL files of the figures: each statement has its title in the comment line above it."""

from collections import namedtuple

Statement = namedtuple("Statement", "line title sql")


def statements(path):
    """The statements of a file, in which a statement ends with a line that ends with ;."""
    found, title, sql, start = [], None, [], 0
    for number, line in enumerate(open(path), 1):
        line = line.rstrip("\n")
        if line.startswith("--"):
            title = line[2:].strip()
        elif line:
            start = start if sql else number
            sql.append(line)
            if line.endswith(";"):
                found.append(Statement(start, title, "\n".join(sql)))
                sql = []
    return found
