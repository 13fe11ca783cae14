"""Which of a log's records make its curve: those of one rank and of one run.

A file may hold several runs, and lines of several processes; their values are never mixed.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import isnan
from typing import Any

from toolreaders.columns import at_indices, is_ascending
from toolreaders.source import ReadingWarning

LISTED = 100
DIGITS = 12
MOST_JUMPS = 0.25
"""Share of the steps that may be printed out of order before the records are those of several."""
LEAST_JUMPS = 3


class Labels:
    """Labels of records as numbers in order of appearance."""

    def __init__(self) -> None:
        self.numbers: array[int] = array("q")
        self.names: dict[str, int] = {}

    def append(self, label: str) -> None:
        """Add the label of the next record."""
        self.numbers.append(self.names.setdefault(label, len(self.names)))

    def extend(self, labels: Sequence[str] | None, count: int) -> None:
        """Add the labels of the next ``count`` records; None where they have none."""
        if labels is None:
            none = self.names.setdefault("", len(self.names))
            self.numbers.extend(array("q", [none]) * count)
            return
        for label in labels:
            self.append(label)

    def pop(self) -> None:
        """Take the last record's label back."""
        self.numbers.pop()

    @property
    def last(self) -> str | None:
        """Label of the last record."""
        return list(self.names)[self.numbers[-1]] if self.numbers else None

    @property
    def are_trusted(self) -> bool:
        """Not where nearly every record has another one: numbers before a line, not ranks."""
        return len(self.names) > 1 and len(self.numbers) >= 2 * len(self.names)


@dataclass
class Selection:
    """Ascending indices of the records that count and their label, warnings, all runs.

    ``unprovable``: code of why the records are no curve that could be compared, if there is one.
    ``resumed``: steps with which the run went on from an earlier one.
    """

    selected: Sequence[int]
    rank: str = ""
    warnings: list[ReadingWarning] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    unprovable: str | None = None
    resumed: list[int] = field(default_factory=list)


def select(
    steps: array[int], losses: array[float], labels: Labels | None = None, *, is_global: bool = True
) -> Selection:
    """The records of the rank with most of them (the first of equals) and of its last run.

    ``is_global``: the tool counts steps over the whole run. Of one that does not say so, a step
    number that starts again may be a new epoch as well: nothing can be proven by its numbers.
    """
    ranks = _by_rank(labels, len(steps))
    runs = {name: _runs(indices, steps) for name, indices in ranks.items()}
    chosen = max(ranks, key=lambda name: len(ranks[name]), default="")
    found = Selection(runs[chosen][-1] if runs else range(0), chosen)
    if len(ranks) > 1:
        found.warnings.append(_interleaved(chosen, ranks, len(steps)))
    if chosen in runs and len(runs[chosen]) > 1:
        found.warnings.append(_several(runs[chosen], is_global))
        found.unprovable = None if is_global else "steps_unproven"
    if sum(map(len, runs.values())) > 1:
        found.runs = _listed(runs, steps, losses)
    _leave_out_abandoned(found, steps)
    if _is_mixed(at_indices(steps, found.selected), at_indices(losses, found.selected)):
        found.warnings.append(_mixed())
        found.unprovable = "records_mixed"
    return found


def _by_rank(labels: Labels | None, count: int) -> dict[str, Sequence[int]]:
    """Indices by label, in natural order of the labels."""
    if labels is None or not labels.are_trusted:
        only = next(iter(labels.names), "") if labels and len(labels.names) == 1 else ""
        return {only: range(count)} if count else {}
    found: list[list[int]] = [[] for _name in labels.names]
    for index, number in enumerate(labels.numbers):
        found[number].append(index)
    names = sorted(labels.names, key=_natural)
    return {name: found[labels.names[name]] for name in names if found[labels.names[name]]}


def _natural(name: str) -> tuple[int, str, str]:
    return len(name), name.rjust(DIGITS, "0"), name


def _runs(indices: Sequence[int], steps: array[int]) -> list[Sequence[int]]:
    """Parts of the records, each of which goes on from its first step."""
    own, starts = at_indices(steps, indices), [0]
    if is_ascending(own):
        return [indices]
    for jump, (before, after) in enumerate(pairwise(own), 1):
        if after < before and after <= own[starts[-1]] and jump - starts[-1] > 1:
            starts.append(jump)
    return [indices[start:end] for start, end in pairwise([*starts, len(indices)])]


def _leave_out_abandoned(found: Selection, steps: array[int]) -> None:
    """A resumed run goes on from an earlier step; what was printed beyond it is of no run."""
    own = at_indices(steps, found.selected)
    if is_ascending(own):
        return
    lowest_later = [*accumulate(reversed(own), min)][-2::-1]
    lasting = {step for step, later in zip(own, lowest_later, strict=False) if step < later}
    lasting.add(own[-1])
    abandoned = [step for step in own if step not in lasting]
    if not abandoned:
        return
    found.resumed = [after for before, after in pairwise(own) if after <= before]
    message = (
        f"{len(abandoned)} records from step {min(abandoned)} on were abandoned "
        "by a resumption from an earlier step; they are left out."
    )
    found.warnings.append(ReadingWarning("abandoned_steps", message))
    found.selected = [
        place for place, step in zip(found.selected, own, strict=True) if step in lasting]


def _is_mixed(steps: array[int], losses: array[float]) -> bool:
    """Whether steps stand again and again beside other losses.

    Several processes print them, or the log has several losses for one step or epoch.
    """
    if is_ascending(steps):
        return False
    back = sum(
        after <= before and one != other and not (isnan(one) and isnan(other))
        for (before, after), (one, other) in zip(pairwise(steps), pairwise(losses), strict=True)
    )
    return back >= max(LEAST_JUMPS, MOST_JUMPS * len(set(steps)))


def _interleaved(chosen: str, ranks: dict[str, Sequence[int]], count: int) -> ReadingWarning:
    named = [name for name in ranks if name]
    others = count - len(ranks[chosen])
    message = (
        f"{len(named)} ranks print losses; rank {chosen} counts, {others} records are left out."
    )
    return ReadingWarning("interleaved_ranks", message)


def _several(runs: Sequence[Sequence[int]], is_global: bool) -> ReadingWarning:
    if not is_global:
        message = (
            f"Steps start again {len(runs) - 1} times, in a new epoch or in a new run: the log "
            "does not tell which."
        )
        return ReadingWarning("steps_unproven", message)
    message = f"The log holds {len(runs)} runs; the last one counts."
    return ReadingWarning("several_runs", message)


def _mixed() -> ReadingWarning:
    message = (
        "Steps occur again and again with other losses: several processes print them, or several "
        "losses are printed for one step."
    )
    return ReadingWarning("records_mixed", message)


def _listed(
    runs: dict[str, list[Sequence[int]]], steps: array[int], losses: array[float]
) -> list[dict[str, Any]]:
    """Each run of each rank by itself."""
    listed = [(name, number, part) for name, parts in runs.items()
              for number, part in enumerate(parts, 1)]  # fmt: skip
    return [
        {
            "rank": name or None,
            "run": number,
            "points": len(part),
            "first_step": steps[part[0]],
            "last_step": steps[part[-1]],
            "first": losses[part[0]],
            "last": losses[part[-1]],
        }
        for name, number, part in listed[:LISTED]
    ]
