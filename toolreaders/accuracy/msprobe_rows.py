"""Rows of an msprobe comparison and how far each is off, from its numbers.

Columns: Ascend/msprobe docs/en, versions 26.x, 8.3.3 and 1.3.0. The tools' own verdicts are kept
beside, never used: 26.2 passes 5 % errors, 8.3.3 passes NaN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

STATISTICS = ("max", "min", "mean", "l2norm")
STATISTICS_DIFFS = ("Max diff", "Min diff", "Mean diff", "L2norm diff")
NOT_MATCHED = {"N/A", "", "None"}
NOT_A_NUMBER = {"n/a", "", "none", "unsupported", "null", "true", "false", "-", "unmatched"}
ROLE = re.compile(r"\.(input|output|parameters_grad|parameters|kwargs|args)(?:\.|$)")

# A row deviates above this share of the reference's magnitude, or below this cosine (DOMAIN 3.2:
# cosine 0.99; the 1 % is the limit above which msprobe's guide calls two runs misaligned).
RELATIVE_LIMIT = 0.01
COSINE_LIMIT = 0.99
# Gradients that vanish in theory are rounding noise; below this magnitude nothing is judged.
NOISE_FLOOR = 1e-6


def number(cell: Any) -> float | None:
    """A cell as float: "4.99%" is 0.0499, " inf" and "Nan" are non-finite, texts are None."""
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, int | float):
        return float(cell)
    value = str(cell).strip()
    if value.lower() in NOT_A_NUMBER:
        return None
    try:
        return float(value[:-1]) / 100 if value.endswith("%") else float(value)
    except ValueError:
        return None


@dataclass
class CompareRow:
    """One line of the sheet: ``line`` is the spreadsheet's row number (header = 1)."""

    line: int
    cells: dict[str, Any]
    index: int = field(default=0)

    def text(self, column: str) -> str:
        value = self.cells.get(column)
        return "" if value is None else str(value).strip()

    def number(self, column: str) -> float | None:
        return number(self.cells.get(column))

    @cached_property
    def npu_matched(self) -> bool:
        return self.text("NPU Name") not in NOT_MATCHED

    @cached_property
    def bench_matched(self) -> bool:
        return self.text("Bench Name") not in NOT_MATCHED

    @property
    def matched(self) -> bool:
        return self.npu_matched and self.bench_matched

    @cached_property
    def name(self) -> str:
        return self.text("NPU Name") if self.npu_matched else self.text("Bench Name")

    @cached_property
    def op(self) -> str:
        """The row's API call or module call: the name up to its input, output or parameter."""
        found = ROLE.search(self.name)
        if not found:
            return self.name
        return self.name[: found.start()]

    @property
    def call(self) -> str:
        """The op without its direction: forward and backward of one call share tensors."""
        return re.split(r"\.(?:forward|backward)\b", self.op, maxsplit=1)[0]

    @cached_property
    def role(self) -> str:
        """input, output, parameters, parameters_grad … or "" where the name does not say."""
        found = ROLE.search(self.name)
        return found[1] if found else ""

    @cached_property
    def npu_nonfinite(self) -> bool:
        return self._nonfinite("NPU")

    @cached_property
    def bench_nonfinite(self) -> bool:
        return self._nonfinite("Bench")

    def _nonfinite(self, side: str) -> bool:
        values = (self.number(f"{side} {name}") for name in STATISTICS)
        return any(value is not None and not math.isfinite(value) for value in values)

    @cached_property
    def figures_nonfinite(self) -> bool:
        # relative errors are Inf wherever the reference is 0: that is no finding
        columns = (*STATISTICS_DIFFS, "MaxAbsErr", "EucDist")
        values = (self.number(column) for column in columns)
        return any(value is not None and not math.isfinite(value) for value in values)

    @cached_property
    def nonfinite(self) -> bool:
        """NaN or Inf anywhere in the numbers of the row."""
        return self.npu_nonfinite or self.bench_nonfinite or self.figures_nonfinite

    @cached_property
    def scale(self) -> float | None:
        """Magnitude of the reference tensor: the larger of |max| and |min|."""
        ends = [self.number("Bench max"), self.number("Bench min")]
        found = [abs(value) for value in ends if value is not None and math.isfinite(value)]
        return max(found) if found else None

    @cached_property
    def relative_error(self) -> float | None:
        """Largest error as a fraction of the reference's magnitude; None where nothing is known.

        Statistics: max, min, mean and norm of both sides. Tensor: also MaxAbsErr.
        """
        if not self.matched or self.scale is None or self.nonfinite:
            return None
        errors = [self._share(name) for name in STATISTICS]
        errors.append(_divide(self.number("MaxAbsErr"), self.scale))
        known = [error for error in errors if error is not None]
        return max(known) if known else None

    def _share(self, name: str) -> float | None:
        npu, bench = self.number(f"NPU {name}"), self.number(f"Bench {name}")
        if npu is None or bench is None:
            return None
        return _divide(abs(npu - bench), abs(bench) if name == "l2norm" else self.scale)

    @cached_property
    def md5_differs(self) -> bool:
        npu, bench = self.text("NPU MD5"), self.text("BENCH MD5")
        return self.matched and npu != bench

    @property
    def dtype_differs(self) -> bool:
        return self.matched and self.text("NPU Dtype") != self.text("Bench Dtype")

    @property
    def shape_differs(self) -> bool:
        return self.matched and self.text("NPU Tensor Shape") != self.text("Bench Tensor Shape")

    @property
    def deviates(self) -> bool:
        """Non-finite where the reference is finite, or off by more than the limits above."""
        return bool(self.deviation)

    @cached_property
    def deviation(self) -> str:
        """Why the row deviates, "" where it agrees or has no counterpart.

        nonfinite · shape · checksum · floor (the reference vanishes, the NPU does not) · cosine ·
        relative_error
        """
        if self.npu_nonfinite and not self.bench_nonfinite:
            return "nonfinite"
        if not self.matched:
            return ""
        if self.shape_differs or self.md5_differs:
            return "shape" if self.shape_differs else "checksum"
        if (self.scale or 0.0) < NOISE_FLOOR and (self.number("MaxAbsErr") or 0.0) < NOISE_FLOOR:
            return "floor" if self._leaves_the_floor() else ""
        cosine = self.number("Cosine")
        if cosine is not None and cosine < COSINE_LIMIT:
            return "cosine"
        return "relative_error" if (self.relative_error or 0.0) > RELATIVE_LIMIT else ""

    def _leaves_the_floor(self) -> bool:
        ends = (self.number("NPU max"), self.number("NPU min"))
        return any(value is not None and abs(value) > NOISE_FLOOR for value in ends)


def _divide(error: float | None, scale: float | None) -> float | None:
    if error is None or scale is None:
        return None
    if scale == 0:
        return 0.0 if error == 0 else math.inf
    return error / scale


def in_execution_order(rows: Iterable[CompareRow]) -> list[CompareRow]:
    """Rows as the run executed them.

    8.x and 1.x print ``parameters_grad`` beside the module's forward rows although gradients are
    known only after its backward: they are moved behind the module's last backward row, or to the
    end where there is none.
    """
    rows = list(rows)
    last_backward: dict[str, int] = {}
    for position, row in enumerate(rows):
        module, separator, _rest = row.op.partition(".backward")
        if separator:
            last_backward[module] = position
    end = len(rows)

    def moment(pair: tuple[int, CompareRow]) -> tuple[int, int, int]:
        position, row = pair
        if row.role != "parameters_grad":
            return (position, 0, position)
        return (max(position, last_backward.get(row.op, end)), 1, position)

    return [row for _position, row in sorted(enumerate(rows), key=moment)]
