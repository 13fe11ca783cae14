"""Ratings of outputs by sample and rater: the same table in three forms, and what is refused."""

import json

import pytest

from tests.toolreaders.readers.written_formats import workbook
from toolreaders import ReadError, read_file
from toolreaders.verdicts.quantities import quantities

HEADER = ("sample", "rater", "source_score", "migrated_score")
ROWS = [("q1", "甲", 4, 5), ("q1", "judge", 4, 3), ("q2", "甲", 2, 2), ("q2", "judge", 2, 3),
        ("q3", "甲", 4, 1), ("q3", "judge", 4, 2)]
CSV = "\n".join(",".join(map(str, row)) for row in (HEADER, *ROWS))


@pytest.fixture
def read(tmp_path):
    def go(content: bytes):
        path = tmp_path / "ratings"
        path.write_bytes(content)
        return read_file(path)
    return go


@pytest.mark.parametrize("content", [
    CSV.encode(), workbook("评分", HEADER, *ROWS),
    "\n".join(json.dumps(dict(zip(HEADER, row, strict=True))) for row in ROWS).encode()])
def test_mean_share_and_agreement(read, content):
    reading = read(content)
    found = reading.values
    assert reading.kind == "quality_ratings"
    assert (found["samples"], found["ratings"], found["better"], found["same"], found["worse"]) == (
        3, 6, 2, 1, 3)
    assert found["source_mean"] == pytest.approx(20 / 6)
    assert found["migrated_mean"] == pytest.approx(16 / 6)
    assert [(row["rater"], row["ratings"], row["worse"]) for row in found["raters"]] == [
        ("甲", 3, 1), ("judge", 3, 2)]
    # Both agree on one of three samples; by chance on 1/3·1/3 + 0·1/3 + 1/3·2/3 = 1/3.
    assert (found["agreement"]["method"], found["agreement"]["items"]) == ("cohen", 3)
    assert found["agreement"]["kappa"] == pytest.approx(0)
    measured = {one.name: one.value for one in quantities(reading.kind, found)}
    assert measured == {"rated_not_worse": pytest.approx(0.5),
                        "rated_score_loss": pytest.approx(0.2)}


def test_a_program_alone_agrees_with_nobody(read):
    assert read("\n".join(CSV.splitlines()[::2]).encode()).values["agreement"] is None


@pytest.mark.parametrize(("row", "code"), [
    ("q9,甲,4,", "incomplete_rating"), (",甲,4,4", "incomplete_rating"),
    ("q9,甲,nan,4", "incomplete_rating"), ("q1,甲,1,1", "repeated_rating")])
def test_what_is_no_rating_is_refused_with_its_row(read, row, code):
    with pytest.raises(ReadError, match="Row 8") as refusal:
        read(f"{CSV}\n{row}".encode())
    assert refusal.value.code == code


def test_a_table_without_rows_holds_no_rating(read):
    with pytest.raises(ReadError) as refusal:
        read(",".join(HEADER).encode())
    assert refusal.value.code == "no_ratings"
