"""Loss curves: what every training-log reader produces, and how its values are summed up."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise
from math import isfinite, nan
from operator import sub
from pathlib import Path
from typing import Any, Literal

from toolreaders.base import (
    DAMAGE,
    Reader,
    Reading,
    damaged,
    open_source,
    recognise,
    with_warnings_of,
)
from toolreaders.columns import (
    Column,
    at_indices,
    doubles,
    integers,
    is_ascending,
    mean,
    nonfinite_places,
    ordered,
)
from toolreaders.source import ReadError, ReadingWarning, Source
from toolreaders.training.failures import failures_in, warnings_of
from toolreaders.training.grad_norms import GradientNorms
from toolreaders.training.run_conditions import RunConditions, columns_in, settings_in
from toolreaders.training.values import GradientNorm, Times, TrainingLog

Meaning = Literal["point", "window_mean", "running_mean", "smoothed"]
StepUnit = Literal["step", "epoch", "sample", "record"]
STEP = re.compile(r"\d{1,18}(?!\d)")
LineOf = Callable[[int], int | None]

MOST_RECORDS = 3_000_000
MOST_EPOCHS = 100_000
LIKELY = 8  # equally frequent distances that are looked at; regular logs have one or two
REGULAR = 0.75
"""Share of distances that makes a log one that prints every so many steps."""
TELLS_WHY = {"steps_unproven", "steps_unknown", "steps_counted_on", "epochs_counted",
             "records_mixed"}  # fmt: skip
UNPROVEN = "The log does not prove to which step of the run its losses belong."
WARM_UP_STEPS = 5
"""MindSpeed-LLM CI drops five iterations before it averages times (DOMAIN, FORMATS: Megatron)."""


@dataclass
class LossSeries:
    """One training-loss curve, ascending and unique in ``steps``.

    ``losses`` keeps NaN and Inf. ``interval``: usual distance of two records in steps.
    ``meaning``: a record is the loss of its step, the mean since the last record, the running
    mean of its epoch, or a smoothed value. ``step_base``: number of the first step of the tool.
    ``unprovable``: code of why two curves must not be compared step by step, e.g. because the
    step numbers are assumed (``steps_unproven``). ``runs``: all runs and ranks of the file.
    ``failures``: lines that tell why the run stopped. ``norms``: gradient norms of the records;
    None where the log prints none. ``conditions``: what else the records print; of ``read_series``
    with what the text says, for which ``line_of`` finds the records.
    """

    steps: array[int]
    losses: array[float]
    interval: int | None
    meaning: Meaning
    step_base: Literal[0, 1]
    warnings: list[ReadingWarning] = field(default_factory=list)
    tool: str | None = None
    tool_version: str | None = None
    step_unit: StepUnit = "step"
    unprovable: str | None = None
    runs: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    extras: dict[str, Any] = field(default_factory=dict)
    norms: GradientNorms | None = None
    conditions: RunConditions = field(default_factory=RunConditions)
    line_of: LineOf | None = None


class TrainingLogReader(Reader):
    """A reader whose file holds a loss curve; subclasses implement ``series``. ``is_console``:
    the file shows what a program printed, so also why it stopped."""

    kind = "training_log"
    version = "3"
    is_console = False

    def series(self, source: Source) -> LossSeries:
        """The curve of the file; ReadError ``no_loss_points`` when it holds none."""
        raise NotImplementedError

    def whole_series(self, source: Source) -> LossSeries:
        """The curve, and what the log tells of failures."""
        series = self.series(source)
        found = failures_in(source) if self.is_console else None
        if found and found.lines:
            series.warnings = series.warnings + warnings_of(found.lines)
            series.failures = [failure.as_value() for failure in found.lines]
            series.extras = series.extras | {"cause": found.cause()}
        skipped = found.skipped() if found else None
        if found and skipped and "skipped_iterations" not in series.extras:
            series.warnings = [*series.warnings, skipped]
            series.extras = series.extras | {"skipped_iterations": len(found.scales)}
        return series

    def read(self, source: Source) -> Reading:
        series = self.whole_series(source)
        return self.reading(
            series_values(series),
            warnings=series.warnings,
            tool=series.tool,
            tool_version=series.tool_version,
        )


def read_series(path: str | Path) -> LossSeries:
    """The loss curve of a training log of any known kind; ReadError as for ``read_file``, and
    ``no_loss_points`` for a log without one."""
    source = open_source(path)
    reader = recognise(source)
    if not isinstance(reader, TrainingLogReader):
        raise ReadError("not_a_training_log", f"This file is {reader.kind}, not a training log.")
    try:
        series = reader.whole_series(source)
    except DAMAGE as error:
        raise source.refusal or damaged(reader, error) from error
    if not len(series.losses):
        raise ReadError("no_loss_points", series.warnings[0].message)
    series.warnings = with_warnings_of(source, series.warnings)
    _add_conditions(series, source)
    return series


def _add_conditions(series: LossSeries, source: Source) -> None:
    """What stands in the text beside the losses, where the reader has not taken it."""
    conditions, line_of = series.conditions, series.line_of
    conditions.settings = settings_in(source)
    if line_of:
        lines = [line_of(place) or 0 for place in range(len(series.steps))]
        conditions.columns = columns_in(source, lines) if all(lines) else {}
    series.line_of = None  # read in another process, the series is sent without it


def assemble(
    steps: Iterable[int],
    losses: Iterable[float],
    *,
    meaning: Meaning,
    step_base: Literal[0, 1],
    line_of: LineOf = lambda _index: None,
    interval: int | None = None,
    warnings: Sequence[ReadingWarning] = (),
    tool: str | None = None,
    tool_version: str | None = None,
    step_unit: StepUnit = "step",
    unprovable: str | None = None,
    runs: Sequence[dict[str, Any]] = (),
    norms: GradientNorms | None = None,
    columns: dict[str, Column] | None = None,
    resumed: Sequence[int] = (),
    extras: dict[str, Any] | None = None,
) -> LossSeries:
    """Records in file order → a curve: later run wins, order by step, warn about what was found.

    ``line_of`` maps a record's index to its line; ``columns``: what else the records print (names:
    ``run_conditions``), where it does not follow from their lines. Raises ``no_loss_points`` for no
    record. A curve of windows of one step is a curve of points.
    """
    all_steps, all_losses = integers(steps), doubles(losses)
    if not all_steps:
        raise ReadError("no_loss_points", "The file is a training log without any loss value.")
    found = list(warnings)
    selected = last_occurrences(all_steps)
    if len(selected) < len(all_steps):
        found.append(_repeated(all_steps, selected, line_of))
        resumed = [*resumed, *(after for before, after in pairwise(all_steps) if after <= before)]
        all_steps, all_losses = at_indices(all_steps, selected), at_indices(all_losses, selected)
        norms = norms and norms.keep(selected)
        if columns is not None:
            columns = {name: column.keep(selected) for name, column in columns.items()}
    found += _nonfinite(all_steps, all_losses, lambda i: line_of(selected[i]))
    if norms:
        found += norms.warnings(all_steps, lambda i: line_of(selected[i]))
    if unprovable and not TELLS_WHY & {warning.code for warning in found}:
        found.append(ReadingWarning("steps_unproven", UNPROVEN))
    interval = interval or usual_interval(all_steps)
    if "skipped_iterations" not in {warning.code for warning in found}:
        found += _missing(all_steps, interval, lambda i: line_of(selected[i]))
    if meaning == "window_mean" and interval == 1 and step_unit == "step":
        meaning = "point"
    return LossSeries(
        steps=all_steps,
        losses=all_losses,
        interval=interval,
        meaning=meaning,
        step_base=step_base,
        warnings=found,
        tool=tool,
        tool_version=tool_version,
        step_unit=step_unit,
        unprovable=unprovable,
        runs=list(runs),
        norms=norms,
        conditions=RunConditions(
            {name: column.values for name, column in (columns or {}).items()
             if any(column.has_value)},
            resumed=list(resumed)),
        line_of=None if columns is not None else lambda index: line_of(selected[index]),
        extras={key: value for key, value in (extras or {}).items() if value not in (None, {})},
    )


def check_count(records: int, most: int | None = None) -> None:
    """Raise ReadError ``too_large`` for more records than any run leaves."""
    most = most or MOST_RECORDS
    if records > most:
        raise ReadError("too_large", f"The log holds more than {most:,} records.")


def last_occurrences(steps: Sequence[int]) -> Sequence[int]:
    """Indices of the last record of every step, ordered by step."""
    if is_ascending(steps):
        return range(len(steps))
    last = {step: index for index, step in enumerate(steps)}
    return [last[step] for step in sorted(last)]


def _distances(steps: Sequence[int]) -> Iterable[int]:
    """Between neighbouring records."""
    return map(sub, islice(steps, 1, None), steps)


def usual_interval(steps: Sequence[int]) -> int | None:
    """Most frequent distance between neighbouring records; None for a single record.

    Of equally frequent ones the one that most steps are multiples of: runs that print every 5
    steps may print the first one too (1, 5, 10).
    """
    if len(steps) < 2:
        return None
    counts = Counter(_distances(steps))
    most = max(counts.values())
    likely = sorted(distance for distance, count in counts.items() if count == most)[:LIKELY]
    if len(likely) == 1:
        return likely[0]
    return max(likely, key=lambda distance: sum(step % distance == 0 for step in steps))


def base_of(steps: Sequence[int], usual: Literal[0, 1]) -> Literal[0, 1]:
    """Number of the tool's first step: 0 where records start at 0 or end at k-1, 2k-1, …, else
    the tool's ``usual`` one."""
    if not len(steps) or steps[0] == 0:
        return 0 if len(steps) else usual
    interval = usual_interval(ordered(steps)) or 1
    is_before = interval > 1 and all(step % interval == interval - 1 for step in steps)
    return 0 if is_before else usual


def _repeated(steps: Sequence[int], selected: Sequence[int], line_of: LineOf) -> ReadingWarning:
    dropped = sorted(set(range(len(steps))).difference(selected))
    repeated = sorted({steps[place] for place in dropped})
    winner = selected[bisect_left(selected, repeated[0], key=steps.__getitem__)]
    first, again = line_of(dropped[0]), line_of(winner)
    where = f" (lines {first} and {again})" if first and again else ""
    message = (
        f"{len(repeated)} steps from {repeated[0]} to {repeated[-1]} occur more than once"
        f"{where}; the later record counts."
    )
    return ReadingWarning("repeated_steps", message, again)


def _nonfinite(
    steps: Sequence[int], losses: Sequence[float], line_of: LineOf
) -> list[ReadingWarning]:
    bad = nonfinite_places(losses)
    if not bad:
        return []
    message = f"{len(bad)} of {len(losses)} loss values are NaN or Inf, first at step "
    return [ReadingWarning("nonfinite_loss", f"{message}{steps[bad[0]]}.", line_of(bad[0]))]


def _missing(steps: Sequence[int], interval: int | None, line_of: LineOf) -> list[ReadingWarning]:
    """Where a log that prints regularly leaves records out, as damaged lines do."""
    distances = list(_distances(steps))
    least = 2 * (interval or 1)
    if max(distances, default=0) < least or distances.count(interval) < REGULAR * len(distances):
        return []
    gaps = [place for place, distance in enumerate(distances) if distance >= least]
    first = gaps[0]
    message = (
        f"Records are missing at {len(gaps)} places, first between step {steps[first]} and step "
        f"{steps[first + 1]}."
    )
    return [ReadingWarning("missing_steps", message, line_of(first + 1))]


def series_values(series: LossSeries) -> TrainingLog:
    """``values`` of a training_log reading."""
    steps, losses, bad = series.steps, series.losses, nonfinite_places(series.losses)
    return {
        "loss": {
            "points": len(losses),
            "first_step": steps[0] if losses else None,
            "last_step": steps[-1] if losses else None,
            "first": losses[0] if losses else None,
            "last": losses[-1] if losses else None,
            "mean": mean(array("d", filter(isfinite, losses)) if bad else losses),
            "nonfinite": len(bad),
            "first_nonfinite_step": steps[bad[0]] if bad else None,
        },
        "interval": series.interval,
        "meaning": series.meaning,
        "step_base": series.step_base,
        "step_unit": series.step_unit,
        "steps_proven": series.unprovable is None,
        "runs": series.runs or None,
        "failures": series.failures or None,
        "grad_norm": series.norms and norm_values(series.norms),
        **series.extras,
    }


def _numbers(values: Iterable[float | None]) -> array[float]:
    """As doubles; None is NaN."""
    if isinstance(values, array):
        return values
    return array("d", (nan if value is None else float(value) for value in values))


def time_values(milliseconds: Iterable[float | None]) -> Times | None:
    """Mean and median iteration time in ms without the first five records, and how many count.

    Of five or fewer records only a first one that compiles the graph is left out.
    """
    times = array("d", filter(isfinite, _numbers(milliseconds)))
    if not times:
        return None
    skipped = WARM_UP_STEPS if len(times) > WARM_UP_STEPS else _compilation(times)
    counts = Counter(times)  # a log repeats a few thousand
    median_all = _median(counts)
    counts.subtract(times[:skipped])
    return {
        "mean": mean(times[skipped:]),
        "mean_all": mean(times),
        "median": _median(counts),
        "median_all": median_all,
        "points": len(times) - skipped,
        "warm_up_excluded": skipped,
        "first": times[0],
    }


def _median(counts: Counter[float]) -> float:
    """The median of the keys, each as often as it is counted."""
    by_size = sorted(counts)
    ends = [*accumulate(map(counts.__getitem__, by_size))]
    low, high = (by_size[bisect_right(ends, place)] for place in (
        (ends[-1] - 1) // 2, ends[-1] // 2))
    return (low + high) / 2


def _compilation(times: Sequence[float]) -> int:
    """1 if the first of few iterations took over five times the others, else 0."""
    return int(len(times) > 1 and times[0] > 5 * _median(Counter(times[1:])))


def statistic_values(numbers: Iterable[float | None]) -> dict[str, Any] | None:
    """First, last, mean, max of the finite values and the count of the others."""
    values = _numbers(numbers)
    if not values:
        return None
    finite = array("d", filter(isfinite, values))
    return {
        "points": len(values),
        "first": values[0],
        "last": values[-1],
        "mean": mean(finite),
        "max": max(finite, default=None),
        "nonfinite": len(values) - len(finite),
    }


def norm_values(norms: GradientNorms) -> GradientNorm | None:
    """Statistics of the gradient norms; ``explained``: how many of those that are not finite."""
    found = statistic_values(norms.printed)
    return found and {**found, "explained": len(norms.explained)}


def to_float(text: str | float | None) -> float | None:
    """A number as tools print it (nan, inf, 1.2E+00, thousands unsupported); None if it is not."""
    if isinstance(text, bool) or text is None:
        return None
    try:
        return float(text)
    except (OverflowError, TypeError, ValueError):
        return None


def to_step(value: Any) -> int | None:
    """The step in 12, 12.0, "12/100"; None where there is no number or one of over 18 digits."""
    found = STEP.match(str(value))
    return int(found[0]) if found else None


def truncated(line: int | None, text: str) -> ReadingWarning:
    """The warning for a last record that was cut off."""
    shown = text.strip()[:60]
    return ReadingWarning("truncated_record", f"The last record is cut off: “{shown}…”.", line)
