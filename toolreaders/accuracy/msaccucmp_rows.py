"""Rows of msaccucmp's comparison in the form of msprobe's, so that both are asked alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from toolreaders.accuracy.msaccucmp import (
    COSINE_LIMIT,
    NEEDED,
    NOT_COMPARED,
    Record,
    compared,
    dump_column,
    is_nonfinite,
    limits_missed,
    metric,
    records,
)
from toolreaders.accuracy.msprobe_rows import CompareRow
from toolreaders.csv_rows import csv_rows
from toolreaders.source import ReadError, Source

VERDICT = "Limits"
PLAIN = {"Cosine": "CosineSimilarity", "MaxAbsErr": "MaxAbsoluteError"}
OURS = "my output"  # so the tool calls the device's operator where its dump is missing


@dataclass
class OfflineRow(CompareRow):
    """One tensor of an offline model; ``record`` holds the cells under the tool's own names."""

    record: Record = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        tensor = self.record.get("TensorIndex", "")
        return self.record["op"] if tensor in ("", NOT_COMPARED) else tensor

    @cached_property
    def op(self) -> str:
        return self.record["op"]

    @property
    def call(self) -> str:
        return self.record["op"]

    @cached_property
    def role(self) -> str:
        parts = self.record.get("TensorIndex", "").split(":")
        return next((role for role in ("input", "output") if role in parts), "")

    @cached_property
    def npu_matched(self) -> bool:
        return compared(self.record) or OURS not in self.record.get("CompareFailReason", "")

    @cached_property
    def bench_matched(self) -> bool:
        return compared(self.record) or not self.npu_matched

    @cached_property
    def nonfinite(self) -> bool:
        return is_nonfinite(self.record)

    @cached_property
    def relative_error(self) -> float | None:
        """Norm of the difference as a fraction of the reference's norm."""
        return metric(self.record, "RelativeEuclideanDistance")

    @cached_property
    def deviation(self) -> str:
        """overflow · cosine · limit (another metric beyond the tool's documented limit)."""
        if self.nonfinite:
            return "overflow"
        cosine = metric(self.record, "CosineSimilarity")
        if cosine is not None and cosine < COSINE_LIMIT:
            return "cosine"
        return "limit" if limits_missed(self.record) else ""


def is_offline(header: list[str]) -> bool:
    """Whether the header is that of msaccucmp's comparison."""
    return set(header) >= NEEDED


def offline_rows(source: Source) -> list[CompareRow]:
    """Every row in the file's order, which is that of execution. Raises ReadError as the reader."""
    table = csv_rows(source)
    header = [str(cell).strip() for cell in next(table, ())]
    if not is_offline(header):
        raise ReadError("damaged_csv", "This is no comparison of msaccucmp.")
    types = [place for place, name in enumerate(header) if name == "DataType"]
    found, _warnings = records(header, dump_column(header), table)
    return [OfflineRow(record["line"], _cells(record, len(types)), record=record)
            for record in found]


def _cells(record: Record, types: int) -> dict[str, str]:
    cells = {ours: record.get(theirs, "") for ours, theirs in PLAIN.items()}
    shape, ours = (_known(record.get(name, "")) for name in ("Shape", "DataType"))
    theirs = _known(record.get("reference type", "")) if types > 1 else ours
    missed = ", ".join(limits_missed(record)) or record.get("CompareFailReason", "")
    return {**cells, "NPU Dtype": ours, "Bench Dtype": theirs, "NPU Tensor Shape": shape,
            "Bench Tensor Shape": shape, VERDICT: missed}


def _known(cell: str) -> str:
    return "" if cell == NOT_COMPARED else cell
