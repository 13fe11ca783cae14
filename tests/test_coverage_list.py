"""docs/coverage.md lists every item of the source documents once, and adds them up."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = (ROOT / "docs" / "coverage.md").read_text("utf-8")
ITEMS = 264
ROW = re.compile(r"\| (\d+)(?: ●)? \| [^|]+ \| [^|]+ \| (yes|partial|no) \| ([^|]+) \| ([^|]+) \|")


def rows() -> list[re.Match]:
    return [found for line in LIST.splitlines() if (found := ROW.fullmatch(line))]


def test_every_item_stands_once():
    assert [int(row[1]) for row in rows()] == list(range(1, ITEMS + 1))


def test_the_sum_is_that_of_the_rows():
    states = Counter(row[2] for row in rows())
    assert (f"Of {ITEMS} items: {states['yes']} yes, {states['partial']} partial, "
            f"{states['no']} no.") in LIST
