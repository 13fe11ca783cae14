"""docs/coverage.md lists every item of the source documents once, adds them up, and names tests
that exist."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = (ROOT / "docs" / "coverage.md").read_text("utf-8")
ITEMS, FORGOTTEN = 264, 18
ROW = re.compile(
    r"\| (Z?\d+)(?: ●)? \| [^|]+ \| [^|]+ \| (yes|partial|no) \| ([^|]+) \| ([^|]+) \|")


def rows() -> list[re.Match]:
    return [found for line in LIST.splitlines() if (found := ROW.fullmatch(line))]


def test_every_item_stands_once():
    assert [row[1] for row in rows()] == [
        *map(str, range(1, ITEMS + 1)), *(f"Z{n}" for n in range(1, FORGOTTEN + 1))]


def test_the_sum_is_that_of_the_rows():
    states = Counter(row[2] for row in rows())
    assert (f"Of {ITEMS + FORGOTTEN} items: {states['yes']} yes, {states['partial']} partial, "
            f"{states['no']} no.") in LIST


def test_named_tests_exist_and_each_forgotten_item_has_one():
    named = {row[1]: re.findall(r"`(tests/[^`]+)`", row[4]) for row in rows()}
    assert [path for paths in named.values() for path in paths if not (ROOT / path).exists()] == []
    assert [number for number, paths in named.items()
            if number.startswith("Z") and not paths] == []
