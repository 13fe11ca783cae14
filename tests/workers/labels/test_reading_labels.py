"""Readings and kinds in words: every kind has them, nested values are laid out for people."""

import ast
from pathlib import Path

import pytest
from django.utils import translation

import toolreaders
from toolreaders import load_readers
from workers import kinds
from workers.labels.number_text import figure_text
from workers.labels.reader_warnings import TEXTS, warning_words
from workers.labels.reading_kinds import WORDS, kind_words
from workers.labels.value_format import key_words, path_words, value_text
from workers.services import scans
from workers.templatetags.readings import LONG, ROWS, listed_values, single_values


@pytest.fixture(autouse=True)
def in_english():
    with translation.override("en"):
        yield


def test_every_kind_of_reading_has_words():
    assert {reader.kind for reader in load_readers()} | {scans.KIND} == set(WORDS)
    assert kind_words("of_another_release") == "of_another_release"


def test_a_job_kind_that_is_gone_stands_by_its_code():
    assert kinds.base.title_of("env.gone") == "env.gone"
    assert kinds.base.title_of("env.npu_info") == str(kinds.get("env.npu_info").title)


def test_values_that_stand_alone():
    values = {"os": "Debian", "product": None, "codes": [],
              "loss": {"mean": 1.5, "lines": {"a": 2}},
              "ranks": [0, 4], "disks": [{"mount": "/"}], "is_ok": False, "lines": 6}
    assert [(one["key"], one["text"]) for one in single_values(values)] == [
        ("os", "Debian"), ("loss.mean", "1.5"), ("ranks", "0, 4"), ("is_ok", "no"), ("lines", "6")]
    assert [one["name"] for one in single_values(values)] == [
        "operating system", "loss · mean", "ranks", "is_ok", "lines"]


def test_lists_of_things_are_tables_of_the_first_rows():
    rows = [{"npu": n, "name": "910B3", "power_w": 95.25} for n in range(ROWS + 3)]
    [table] = listed_values({"chips": rows, "form": "info"})
    assert (table["name"], table["key"], table["count"]) == ("chips", "chips", ROWS + 3)
    assert [(column["name"], column["is_number"]) for column in table["columns"]] == [
        ("NPU", True), ("name", False), ("power (W)", True)]
    assert [cell["text"] for cell in table["rows"][-1]] == [str(ROWS - 1), "910B3", "95.25"]
    assert len(table["rows"]) == ROWS


def test_a_long_map_of_names_from_the_file_is_a_table():
    packages = {f"package-{n}": f"1.{n}" for n in range(LONG - 1)}
    assert listed_values({"packages": packages}) == []
    packages["torch"] = "2.1.0"
    [table] = listed_values({"packages": packages})
    assert [cell["text"] for cell in table["rows"][-1]] == ["torch", "2.1.0"]
    assert single_values({"packages": packages}) == []


def test_names_tell_the_unit_and_leave_alone_what_the_file_names():
    assert path_words(("latency_ms", "ttft", "p99")) == "latency (ms) · first token · p99"
    assert path_words(("packages", "torch")) == "packages · torch"
    assert path_words(("peaks", "HCCL", "reserved_mb")) == "peaks · HCCL · reserved (MB)"
    assert key_words("free_share") == "free · share"
    assert key_words("_ms") == "_ms"


def test_values_are_written_with_their_unit_and_few_digits():
    assert value_text(17.123456789, "power_w") == "17.12346"
    assert value_text(0.1884892, "free_share") == "18.849 %"
    assert value_text(3 * 1024**2, "allocated_bytes") == "3.0 MB"
    assert value_text(None, "power_w") == value_text([], "codes") == "--"
    assert value_text({"mean": 0.5, "is_ok": True}, "loss") == "mean: 0.5; is_ok: yes"
    assert value_text("point", "meaning") == "value of the step"
    assert value_text({"version": "2.1"}, "items") == "version: 2.1"
    assert value_text({"tensor": 2.482585}, "loss") == "tensor: 2.482585"
    assert value_text("point", "name") == "point"


def test_figures_show_powers_of_ten_and_no_exponent():
    assert figure_text(1e-07) == "1 × 10⁻⁷"
    assert figure_text(-2.5e20) == "-2.5 × 10²⁰"
    assert figure_text(1234567.8) == "1234568"
    assert figure_text(999999.7) == "1000000"
    assert figure_text(0.118435000001) == "0.118435"
    assert figure_text(float("nan")) == "nan"


@pytest.mark.slow
def test_every_warning_of_a_reader_has_words():
    assert codes_of_warnings() - set(TEXTS) == set()
    assert warning_words({"code": "of_another", "message": "As it was."}) == "As it was."


def codes_of_warnings() -> set[str]:
    """The codes that stand in the source of the readers; those of comparisons have other words."""
    calls = [node for path in Path(toolreaders.__path__[0]).rglob("*.py")
             if path.parent.name != "curves"
             for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return {call.args[0].value for call in calls
            if getattr(call.func, "id", getattr(call.func, "attr", "")) == "ReadingWarning"
            and isinstance(call.args[0], ast.Constant)}
