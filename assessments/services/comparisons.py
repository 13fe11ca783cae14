"""Indexing operator comparisons: derived from the stored file, safe to repeat."""

import math
from collections.abc import Iterable, Iterator

from django.db import transaction

from assessments.models import Comparison, OperatorRow
from assessments.queries import COMPARISON_READERS, is_indexable
from engagements.queue import enqueue_on_commit
from toolreaders.accuracy.msprobe_rows import STATISTICS, CompareRow
from toolreaders.accuracy.operator_rows import executed_rows
from toolreaders.source import ReadError
from workers.artifacts.artifact_store import finite_json, is_intact, local_path
from workers.models import Artifact, StoredReading

AT_ONCE = 2000  # rows per statement


def index_comparison(*, artifact: Artifact) -> Comparison | None:
    """Make the rows of a comparison askable, in execution order; whole or not at all.

    What is indexed stays until a newer reader has read the file. A file that is changed or
    damaged leaves a Comparison that says so, and is tried anew. Returns None for files that are
    no comparison of operators. Sources: DOMAIN 3.2, 4.3.
    """
    reading = artifact.readings.filter(reader__in=COMPARISON_READERS).first()
    if reading is None:
        return None
    found = Comparison.objects.filter(artifact=artifact).first()
    if found and _is_current(found, reading):
        return found
    try:
        rows, verdict = _rows(artifact)
    except ReadError as error:
        return _keep(reading, [], problem=f"{error.code}: {error.message}"[:240])
    return _keep(reading, rows, verdict=verdict)


def enqueue_index(*, reading: StoredReading, **_signal) -> None:
    """A comparison's rows are indexed by a worker: a large workbook takes many seconds."""
    if is_indexable(reading):
        enqueue_on_commit("assessments.index_comparison", reading.artifact_id, expires=600)


def _is_current(comparison: Comparison, reading: StoredReading) -> bool:
    return not comparison.problem and comparison.reader_version == reading.reader_version


def _rows(artifact: Artifact) -> tuple[list[CompareRow], str]:
    if not is_intact(artifact):
        raise ReadError("file_changed", "The stored file no longer has its recorded checksum.")
    with local_path(artifact) as path:
        return executed_rows(path)


@transaction.atomic
def _keep(reading: StoredReading, rows: list[CompareRow], *, verdict: str = "",
          problem: str = "") -> Comparison:
    artifact = Artifact.objects.select_for_update(of=("self",), no_key=True).get(
        pk=reading.artifact_id)
    found = Comparison.objects.filter(artifact=artifact).first()
    if found and _is_current(found, reading):  # somebody else was quicker
        return found
    if found:
        found.delete()
    comparison = Comparison.objects.create(
        artifact=artifact, engagement_id=artifact.engagement_id,
        reader_version=reading.reader_version, problem=problem,
        mode=reading.values.get("mode") or "", **_counts(rows))
    OperatorRow.objects.bulk_create(_operators(comparison, rows, verdict), AT_ONCE)
    return comparison


def _counts(rows: list[CompareRow]) -> dict[str, int | None]:
    deviating = [(n, row) for n, row in enumerate(rows, 1) if row.deviation]
    return {"rows": len(rows), "deviating": len(deviating),
            "nonfinite": sum(row.nonfinite for row in rows),
            "unmatched": sum(not row.matched for row in rows),
            "first_position": _first(deviating), "suspect_position": _suspect(deviating)}


def _first(deviating: list[tuple[int, CompareRow]]) -> int | None:
    """The first deviating output; a first deviating row where no output deviates."""
    outputs = (n for n, row in deviating if row.role == "output")
    return next(outputs, deviating[0][0] if deviating else None)


def _suspect(deviating: Iterable[tuple[int, CompareRow]]) -> int | None:
    """The first deviating output of a call whose own inputs and parameters agree."""
    spoilt: set[str] = set()
    for n, row in deviating:
        if row.role == "output" and row.call not in spoilt:
            return n
        spoilt.add(row.call)
    return None


def _operators(comparison: Comparison, rows: list[CompareRow], verdict: str
               ) -> Iterator[OperatorRow]:
    for n, row in enumerate(rows, 1):
        yield OperatorRow(
            comparison=comparison, position=n, line=row.line, op=_text(row.op, 300),
            name=_text(row.name, 400), role=row.role, reason=row.deviation,
            missing_on=_missing(row), is_nonfinite=row.nonfinite,
            cosine=_finite(row.number("Cosine")), relative_error=_finite(row.relative_error),
            max_abs_error=_finite(row.number("MaxAbsErr")),
            dtypes=_text(_both(row, "Dtype"), 120),
            shapes=_text(_both(row, "Tensor Shape"), 240),
            tool_verdict=_text(row.text(verdict), 120),
            statistics=[finite_json(row.number(f"{side} {name}")) for side in ("NPU", "Bench")
                        for name in STATISTICS])


def _text(value: str, most: int) -> str:
    """Without NUL, which PostgreSQL refuses."""
    return value.replace("\0", "")[:most]


def _missing(row: CompareRow) -> str:
    if row.matched:
        return ""
    return "npu" if not row.npu_matched else "bench"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _both(row: CompareRow, column: str) -> str:
    """NPU / reference where they differ or one is missing, else the value once."""
    sides = [row.text(f"{side} {column}") for side in ("NPU", "Bench")]
    return sides[0] if sides[0] == sides[1] else " / ".join(side or "--" for side in sides)
