"""The table "Use it" of README.md against the pages that it links.

rows.py README: each piece of code in the row of a page below docs/ must stand in that page,
where tests run it. Prints what does not, and fails.
"""

import re
import sys
from pathlib import Path

# Suites of their own run these.
ELSEWHERE = {"python.md", "debian.md", "rust.md", "node.md"}


def main() -> None:
    readme = Path(sys.argv[1])
    section = readme.read_text().split("\n## Use it\n", 1)[1].split("\n## ", 1)[0]
    wrong = rows = 0
    for row in section.splitlines():
        page = re.match(r"\| \[[^\]]*\]\(docs/([\w-]+\.md)\)", row)
        if not page or page[1] in ELSEWHERE:
            continue
        rows += 1
        text = (readme.parent / "docs" / page[1]).read_text()
        for code in re.findall(r"`([^`]+)`", row):
            if code not in text:
                print(f"docs/{page[1]} does not have: {code}")
                wrong += 1
    if rows < 7:
        print(f"only {rows} rows of the table link a page")
    sys.exit(wrong > 0 or rows < 7)


if __name__ == "__main__":
    main()
