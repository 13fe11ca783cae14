"""Ratings of outputs, by people or by a program that judges: a table of the desk's own.

One row for each sample and rater: ``sample``, ``rater``, ``source_score`` and ``migrated_score``;
more is better, whatever the scale. CSV, a sheet of a workbook, or JSON records line by line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from math import isfinite
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.csv_rows import csv_header, csv_rows
from toolreaders.source import ReadError
from toolreaders.training.series import to_float
from toolreaders.verdicts.agreement import agreement
from toolreaders.verdicts.preferences import BETTER, PREFERENCES, SAME, WORSE
from toolreaders.xlsx import text, workbook_of

COLUMNS = ("sample", "rater", "source_score", "migrated_score")
Rated = tuple[str, str, float, float]  # as COLUMNS


@register
class QualityRatingsReader(Reader):
    """Scores of the source platform's and the migrated model's output to the same sample."""

    name = "quality_ratings"
    kind = "quality_ratings"

    def recognises(self, sample: Sample) -> int:
        if sample.is_binary:
            book = workbook_of(sample.source)
            return 95 if book and book.has(*COLUMNS) else 0
        if set(COLUMNS) <= set(csv_header(sample)):
            return 95
        return 95 if all(f'"{name}"' in sample.first_line for name in COLUMNS) else 0

    def read(self, source: Source) -> Reading:
        ratings = list(_ratings(_rows(source)))
        if not ratings:
            raise ReadError("no_ratings", "The table holds no rating.")
        return self.reading(_values(ratings))


def _rows(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row with its number in the file."""
    book = workbook_of(source)
    if book is None and source.text.lstrip("\ufeff \r\n").startswith("{"):
        for number, line in source.lines():
            if line.strip():
                row = json.loads(line)
                yield number, row if isinstance(row, dict) else {}
        return
    table = book.rows(book.has(*COLUMNS) or "") if book else csv_rows(source)
    header = [text(cell) for cell in next(table)]
    for number, cells in enumerate(table, 2):
        if any(text(cell) for cell in cells):
            yield number, dict(zip(header, cells, strict=False))


def _ratings(rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Rated]:
    seen = set()
    for number, row in rows:
        key = text(row.get("sample")), text(row.get("rater"))
        scores = [to_float(text(row.get(name))) for name in COLUMNS[2:]]
        if not all(key) or not all(score is not None and isfinite(score) for score in scores):
            raise ReadError("incomplete_rating",
                            f"Row {number} lacks sample, rater or one of both scores.")
        if key in seen:
            raise ReadError("repeated_rating",
                            f"Row {number}: {key[1]} rates sample {key[0]} a second time.")
        seen.add(key)
        yield (*key, *scores)


def _values(ratings: list[Rated]) -> dict[str, Any]:
    samples = list(dict.fromkeys(row[0] for row in ratings))
    raters = {name: [row for row in ratings if row[1] == name]
              for name in dict.fromkeys(row[1] for row in ratings)}
    found = agreement([[given.get(sample) for sample in samples] for given in (
        {row[0]: _preference(row) for row in rows} for rows in raters.values())])
    whole = _summary(ratings)
    before, after = whole["source_mean"], whole["migrated_mean"]
    return {
        **whole, "samples": len(samples),
        "raters": [{"rater": name, **_summary(rows)} for name, rows in raters.items()],
        "not_worse": (whole[BETTER] + whole[SAME]) / len(ratings),
        "score_loss": (before - after) / abs(before) if before else None,
        "agreement": asdict(found) if found else None,
    }


def _summary(rows: list[Rated]) -> dict[str, Any]:
    counts = Counter(map(_preference, rows))
    return {"ratings": len(rows), "source_mean": sum(row[2] for row in rows) / len(rows),
            "migrated_mean": sum(row[3] for row in rows) / len(rows),
            **{name: counts[name] for name in PREFERENCES}}


def _preference(row: Rated) -> str:
    """What the two scores say of the migrated model."""
    return SAME if row[2] == row[3] else BETTER if row[3] > row[2] else WORSE
