"""Gradient norms that a log prints beside its losses: which of them are not finite, and which of
those the log itself explains.

With fp16 a gradient overflows now and then; the tool skips that update and lowers the loss scale.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from toolreaders.arrays import np
from toolreaders.columns import Column
from toolreaders.figures import NUMBER
from toolreaders.source import ReadingWarning, Source

GRAD_NORM = re.compile(
    r"(?:(?<![A-Za-z0-9_])(?:(?:train|global|total)_)?(?:grad(?:ient)?[ _-]?norm|gnorm)"
    r"|(?<![A-Za-z0-9_])global_norm|\| *norm)"
    rf"(?![A-Za-z0-9_])['\"]?(?: *[:=] *| +)['\"]?(?:\[|tensor\()?({NUMBER})",
    re.IGNORECASE,
)
"""As most tools name it; Karpathy's scripts print ``| norm: 0.31 |``."""
LOSS_SCALE = re.compile(
    rf"(?<![A-Za-z0-9_])loss[ _-]scal(?:e|ing)['\"]?(?: *[:=] *| +)\[?({NUMBER})", re.IGNORECASE
)
SKIPPED = re.compile(
    r"overflow! +(?:rank|skipping)"  # DeepSpeed
    r"|gradient overflow"  # apex
    r"|overflow detected"  # fairseq
    r"|overflow cond: true"  # MindFormers
    r"|optimizer not run, scale_before"  # PaddleNLP
    r"|skipped iterations: *[1-9]",  # Megatron
    re.IGNORECASE,
)
MOST_NAMED = 10


def explained_by_log(source: Source, lines: np.ndarray) -> np.ndarray:
    """Which of the records on these ascending lines belong to a skipped update: a line since the
    record before says so, or their own loss scale is lower than that of the record before."""
    numbers, counts = np.unique(lines, return_counts=True)
    alone = set(numbers[counts == 1].tolist())  # records of one line cannot be told apart
    found: set[int] = set()
    is_skipped, scale = False, 0.0
    for number, pieces in groupby(source.lines(), key=itemgetter(0)):
        text = "\r".join(piece for _number, piece in pieces)
        is_skipped = is_skipped or SKIPPED.search(text) is not None
        if number not in alone:
            continue
        printed = LOSS_SCALE.search(text)
        own = float(printed[1]) if printed else scale
        if is_skipped or own < scale:
            found.add(number)
        is_skipped, scale = False, own
    return np.isin(lines, list(found))


@dataclass(frozen=True)
class GradientNorms:
    """The norms of a curve's records: which records print one, and which of those that are not
    finite belong to an update that the log says was skipped."""

    values: np.ndarray
    is_told: np.ndarray
    is_explained: np.ndarray

    @classmethod
    def of(
        cls, column: Column, explain: Callable[[], np.ndarray] | None = None
    ) -> GradientNorms | None:
        """The norms of a column, None where no record has one. ``explain`` says which records
        belong to a skipped update; it is asked only where a norm is not finite."""
        values, is_told = column.values, column.is_told
        is_bad = is_told & ~np.isfinite(values)
        is_explained = is_bad & explain() if explain and is_bad.any() else np.zeros_like(is_bad)
        return cls(values, is_told, is_explained) if is_told.any() else None

    @property
    def is_bad(self) -> np.ndarray:
        """Which records print a norm that is not finite."""
        return self.is_told & ~np.isfinite(self.values)

    @property
    def is_unexplained(self) -> np.ndarray:
        """Which records print a norm that is not finite, and the log does not say why."""
        return self.is_bad & ~self.is_explained

    @property
    def show_no_update(self) -> bool:
        """Whether no norm is finite and above zero."""
        return not (self.is_told & np.isfinite(self.values) & (self.values > 0)).any()

    def kept(self, indices: np.ndarray) -> GradientNorms:
        """The norms of these records alone."""
        return GradientNorms(
            self.values[indices], self.is_told[indices], self.is_explained[indices])  # fmt: skip

    def warnings(
        self, steps: np.ndarray, line_of: Callable[[int], int | None]
    ) -> list[ReadingWarning]:
        """What is to be told of them; ``line_of`` maps a record's index to its line."""
        told = int(self.is_told.sum())
        if not self.values[self.is_told].any():
            message = f"All {told} gradient norms are 0: nothing shows that a weight was changed."
            first = line_of(int(np.flatnonzero(self.is_told)[0]))
            return [ReadingWarning("zero_grad_norm", message, first)]
        if not self.is_bad.any():
            return []
        message = f"{int(self.is_bad.sum())} of {told} gradient norms are NaN or Inf"
        if self.is_unexplained.any():
            message += f", not explained by the log: {_named(steps[self.is_unexplained])}"
        if self.is_explained.any():
            message += (
                ", explained by the log (update skipped or loss scale lowered): "
                f"{_named(steps[self.is_explained])}"
            )
        first = line_of(int(np.flatnonzero(self.is_bad)[0]))
        return [ReadingWarning("nonfinite_grad_norm", f"{message}.", first)]


def _named(steps: np.ndarray) -> str:
    shown = ", ".join(map(str, steps[:MOST_NAMED].tolist()))
    if len(steps) <= MOST_NAMED:
        return f"step{'s' if len(steps) > 1 else ''} {shown}"
    return f"steps {shown}, … {steps[-1]} ({len(steps)} in all)"
