"""Gradient norms that a log prints beside its losses: which of them are not finite, and which of
those the log itself explains.

With fp16 a gradient overflows now and then; the tool skips that update and lowers the loss scale.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, groupby
from math import isfinite
from operator import itemgetter

from toolreaders.columns import Column, at_indices, nonfinite_places
from toolreaders.figures import NUMBER
from toolreaders.source import ReadingWarning, Source

GRAD_NORM = re.compile(
    r"(?:(?<![A-Za-z0-9_])(?:(?:train|global|total)_)?(?:grad(?:ient)?[ _-]?norm|gnorm)"
    r"|(?<![A-Za-z0-9_])global_norm|\| *norm)"
    rf"(?![A-Za-z0-9_])['\"]?(?: *[:=] *| +)['\"]?(?:\[|tensor\()?({NUMBER})"
    r"(?!\.?\d)(?! \d+\])",  # a point that was lost: [1 31049]
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


def explained_by_log(source: Source, lines: Sequence[int]) -> set[int]:
    """Indices of the records on these ascending lines that belong to a skipped update: a line since
    the record before says so, or their own loss scale is lower than that of the record before."""
    # records of one line cannot be told apart
    alone = {number for number, count in Counter(lines).items() if count == 1}
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
    return {index for index, number in enumerate(lines) if number in found}


@dataclass(frozen=True)
class GradientNorms:
    """The norms of a curve's records: which records print one, and the indices of those that are
    not finite and belong to an update that the log says was skipped."""

    values: array[float]
    has_value: bytes
    explained: AbstractSet[int] = frozenset()

    @classmethod
    def of(
        cls, column: Column, explain: Callable[[], AbstractSet[int]] | None = None
    ) -> GradientNorms | None:
        """The norms of a column, None where no record has one. ``explain`` says which records
        belong to a skipped update; it is asked only where a norm is not finite."""
        norms = cls(column.values, column.has_value)
        if not any(norms.has_value):
            return None
        if explain and norms.bad:
            return cls(norms.values, norms.has_value, explain().intersection(norms.bad))
        return norms

    @property
    def printed(self) -> list[float]:
        """The norms of the records that print one."""
        return list(compress(self.values, self.has_value))

    @cached_property
    def bad(self) -> list[int]:
        """Indices of the records that print a norm that is not finite."""
        return [place for place in nonfinite_places(self.values) if self.has_value[place]]

    @property
    def unexplained(self) -> list[int]:
        """Indices of the records that print a norm that is not finite, and the log does not say
        why."""
        return [place for place in self.bad if place not in self.explained]

    @property
    def show_no_update(self) -> bool:
        """Whether no norm is finite and above zero."""
        return not any(isfinite(value) and value > 0 for value in self.values)

    def keep(self, indices: Sequence[int]) -> GradientNorms | None:
        """The norms of these records alone; None where none of them prints one."""
        explained = {new for new, old in enumerate(indices) if old in self.explained}
        present = bytes(map(self.has_value.__getitem__, indices))
        if not any(present):
            return None
        return GradientNorms(at_indices(self.values, indices), present, explained)

    def warnings(
        self, steps: Sequence[int], line_of: Callable[[int], int | None]
    ) -> list[ReadingWarning]:
        """Warnings about them; ``line_of`` maps a record's index to its line."""
        count = sum(self.has_value)
        if not any(compress(self.values, self.has_value)):
            message = f"All {count} gradient norms are 0: nothing shows that a weight was changed."
            return [ReadingWarning("zero_grad_norm", message, line_of(self.has_value.index(1)))]
        if not self.bad:
            return []
        message = f"{len(self.bad)} of {count} gradient norms are NaN or Inf"
        if self.unexplained:
            message += f", not explained by the log: {_named(steps, self.unexplained)}"
        if self.explained:
            message += (
                ", explained by the log (update skipped or loss scale lowered): "
                f"{_named(steps, sorted(self.explained))}"
            )
        return [ReadingWarning("nonfinite_grad_norm", f"{message}.", line_of(self.bad[0]))]


def _named(steps: Sequence[int], places: Sequence[int]) -> str:
    shown = ", ".join(str(steps[place]) for place in places[:MOST_NAMED])
    if len(places) <= MOST_NAMED:
        return f"step{'s' if len(places) > 1 else ''} {shown}"
    return f"steps {shown}, … {steps[places[-1]]} ({len(places)} in all)"
