"""Readings and kinds in words: every kind has them, nested values are laid out for people."""

from workers import kinds
from workers.readers import load_readers
from workers.readers.words import WORDS, kind_words
from workers.templatetags.readings import ROWS, listed_values, single_values


def test_every_kind_of_reading_has_words():
    assert {reader.kind for reader in load_readers()} == set(WORDS)
    assert kind_words("of_another_release") == "of_another_release"


def test_a_job_kind_that_is_gone_stands_by_its_code():
    assert kinds.base.title_of("env.gone") == "env.gone"
    assert kinds.base.title_of("env.npu_info") == str(kinds.get("env.npu_info").title)


def test_values_that_stand_alone():
    values = {"os": "Debian", "product": None, "codes": [],
              "loss": {"mean": 1.5, "lines": {"a": 2}},
              "ranks": [0, 4], "disks": [{"mount": "/"}], "is_ok": False, "lines": 6}
    assert single_values(values) == [("os", "Debian"), ("loss.mean", 1.5), ("ranks", "0, 4"),
                                     ("is_ok", False), ("lines", 6)]


def test_lists_of_things_are_tables_of_the_first_rows():
    rows = [{"npu": n, "name": "910B3"} for n in range(ROWS + 3)]
    [table] = listed_values({"chips": rows, "form": "info"})
    assert (table["name"], table["columns"], table["count"]) == (
        "chips", ["npu", "name"], ROWS + 3)
    assert table["rows"][-1] == [ROWS - 1, "910B3"]
    assert len(table["rows"]) == ROWS
