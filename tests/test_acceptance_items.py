"""docs/acceptance-items.md names metrics that exist, and chapters that the test report has."""

import re
from pathlib import Path

from assessments.definitions.standard_library import STANDARD
from delivery.reports import registry

TEXT = (Path(__file__).parent.parent / "docs" / "acceptance-items.md").read_text("utf-8")
ROWS = [[cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| Item")]


def test_every_item_says_how_it_is_agreed_and_where_it_is_answered():
    assert len(ROWS) == 16
    assert {len(row) for row in ROWS} == {3}
    assert all(all(row) for row in ROWS)


def test_the_metrics_named_are_of_the_standard_library():
    named = set(re.findall(r"`([a-z_]+)`", TEXT))
    assert named <= {definition.code for definition in STANDARD}
    assert len(named) > 8


def test_the_chapters_named_are_those_of_the_test_report():
    numbered = [section.id for section in registry.get("TR").sections if section.is_numbered]
    chapters = {"overview": 3, "cases": 4, "details": 5, "test_deliverables": 9, "signatures": 11}
    assert {name: numbered.index(name) + 1 for name in chapters} == chapters
    answers = " ".join(row[2] for row in ROWS)
    assert set(map(int, re.findall(r"\b\d+\b(?!\.\d)", re.sub(r"3\.(\d)", "3", answers)))) <= set(
        chapters.values())
