"""Loss curves: what every training-log reader produces, and how its values are summed up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from toolreaders.arrays import np
from toolreaders.base import (
    DAMAGE,
    Reader,
    Reading,
    damaged,
    open_source,
    recognise,
    with_warnings_of,
)
from toolreaders.source import ReadError, ReadingWarning, Source
from toolreaders.training.failures import failures_in, warnings_of
from toolreaders.training.grad_norms import GradientNorms

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
    None where the log prints none.
    """

    steps: np.ndarray
    losses: np.ndarray
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
        failures = failures_in(source) if self.is_console else []
        if failures:
            series.warnings = series.warnings + warnings_of(failures)
            series.failures = [failure.as_value() for failure in failures]
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
    return series


def assemble(
    steps: Sequence[int] | np.ndarray,
    losses: Sequence[float] | np.ndarray,
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
    extras: dict[str, Any] | None = None,
) -> LossSeries:
    """Records in file order → a curve: later run wins, order by step, warn about what was found.

    ``line_of`` maps a record's index to its line. Raises ``no_loss_points`` for no record.
    A curve of windows of one step is a curve of points.
    """
    if len(steps) == 0:
        raise ReadError("no_loss_points", "The file is a training log without any loss value.")
    found = list(warnings)
    all_steps = np.asarray(steps, dtype=np.int64)
    all_losses = np.asarray(losses, dtype=np.float64)
    kept = last_occurrences(all_steps)
    if len(kept) < len(all_steps):
        found.append(_repeated(all_steps, kept, line_of))
        all_steps, all_losses = all_steps[kept], all_losses[kept]
        norms = norms and norms.kept(kept)
    found += _nonfinite(all_steps, all_losses, lambda i: line_of(int(kept[i])))
    if norms:
        found += norms.warnings(all_steps, lambda i: line_of(int(kept[i])))
    if unprovable and not TELLS_WHY & {warning.code for warning in found}:
        found.append(ReadingWarning("steps_unproven", UNPROVEN))
    interval = interval or usual_interval(all_steps)
    if "skipped_iterations" not in {warning.code for warning in found}:
        found += _missing(all_steps, interval, lambda i: line_of(int(kept[i])))
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
        extras={key: value for key, value in (extras or {}).items() if value not in (None, {})},
    )


def check_count(records: int, most: int | None = None) -> None:
    """Raise ReadError ``too_large`` for more records than any run leaves."""
    most = most or MOST_RECORDS
    if records > most:
        raise ReadError("too_large", f"The log holds more than {most:,} records.")


def last_occurrences(steps: np.ndarray) -> np.ndarray:
    """Indices of the last record of every step, ordered by step."""
    if len(steps) > 1 and not (np.diff(steps) > 0).all():
        _unique, backwards = np.unique(steps[::-1], return_index=True)
        return len(steps) - 1 - backwards
    return np.arange(len(steps))


def usual_interval(steps: np.ndarray) -> int | None:
    """Most frequent distance between neighbouring records; None for a single record.

    Of equally frequent ones the one that most steps are multiples of: runs that print every 5
    steps may print the first one too (1, 5, 10).
    """
    if len(steps) < 2:
        return None
    distances, counts = np.unique(np.diff(steps), return_counts=True)
    likely = distances[counts == counts.max()][:LIKELY]
    return int(max(likely, key=lambda distance: np.count_nonzero(steps % distance == 0)))


def base_of(steps: np.ndarray, usual: Literal[0, 1]) -> Literal[0, 1]:
    """Number of the tool's first step: 0 where records start at 0 or end at k-1, 2k-1, …, else
    the tool's ``usual`` one."""
    if not len(steps) or steps[0] == 0:
        return 0 if len(steps) else usual
    interval = usual_interval(np.unique(steps)) or 1
    return 0 if interval > 1 and (steps % interval == interval - 1).all() else usual


def _repeated(steps: np.ndarray, kept: np.ndarray, line_of: LineOf) -> ReadingWarning:
    dropped = np.setdiff1d(np.arange(len(steps)), kept)
    repeated = np.unique(steps[dropped])
    winner = int(kept[np.searchsorted(steps[kept], repeated[0])])
    first, again = line_of(int(dropped[0])), line_of(winner)
    where = f" (lines {first} and {again})" if first and again else ""
    message = (
        f"{len(repeated)} steps from {repeated[0]} to {repeated[-1]} occur more than once"
        f"{where}; the later record counts."
    )
    return ReadingWarning("repeated_steps", message, again)


def _nonfinite(steps: np.ndarray, losses: np.ndarray, line_of: LineOf) -> list[ReadingWarning]:
    bad = np.flatnonzero(~np.isfinite(losses))
    if not len(bad):
        return []
    message = f"{len(bad)} of {len(losses)} loss values are NaN or Inf, first at step "
    return [ReadingWarning("nonfinite_loss", f"{message}{steps[bad[0]]}.", line_of(int(bad[0])))]


def _missing(steps: np.ndarray, interval: int | None, line_of: LineOf) -> list[ReadingWarning]:
    """Where a log that prints regularly leaves records out, as damaged lines do."""
    distances = np.diff(steps)
    gaps = np.flatnonzero(distances >= 2 * (interval or 1))
    if not len(gaps) or np.count_nonzero(distances == interval) < REGULAR * len(distances):
        return []
    first = int(gaps[0])
    message = (
        f"Records are missing at {len(gaps)} places, first between step {steps[first]} and step "
        f"{steps[first + 1]}."
    )
    return [ReadingWarning("missing_steps", message, line_of(first + 1))]


def series_values(series: LossSeries) -> dict[str, Any]:
    """``values`` of a training_log reading."""
    losses, finite = series.losses, np.isfinite(series.losses)
    bad = np.flatnonzero(~finite)
    return {
        "loss": {
            "points": len(losses),
            "first_step": int(series.steps[0]) if len(losses) else None,
            "last_step": int(series.steps[-1]) if len(losses) else None,
            "first": float(losses[0]) if len(losses) else None,
            "last": float(losses[-1]) if len(losses) else None,
            "mean": float(losses[finite].mean()) if finite.any() else None,
            "nonfinite": len(bad),
            "first_nonfinite_step": int(series.steps[bad[0]]) if len(bad) else None,
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


def time_values(milliseconds: Sequence[float] | np.ndarray) -> dict[str, Any] | None:
    """Mean and median iteration time in ms without the first five records, and how many count.

    Of five or fewer records only a first one that compiles the graph is left out.
    """
    times = np.asarray(milliseconds, dtype=np.float64)
    times = times[np.isfinite(times)]
    if not len(times):
        return None
    skipped = WARM_UP_STEPS if len(times) > WARM_UP_STEPS else _compilation(times)
    settled = times[skipped:]
    return {
        "mean": float(settled.mean()),
        "median": float(np.median(settled)),
        "median_all": float(np.median(times)),
        "points": len(settled),
        "warm_up_excluded": skipped,
        "first": float(times[0]),
    }


def _compilation(times: np.ndarray) -> int:
    """1 if the first of few iterations took over five times the others, else 0."""
    return int(len(times) > 1 and times[0] > 5 * np.median(times[1:]))


def statistic_values(numbers: Sequence[float] | np.ndarray) -> dict[str, Any] | None:
    """First, last, mean, max of the finite values and the count of the others."""
    values = np.asarray(numbers, dtype=np.float64)
    if not len(values):
        return None
    finite = values[np.isfinite(values)]
    return {
        "points": len(values),
        "first": float(values[0]),
        "last": float(values[-1]),
        "mean": float(finite.mean()) if len(finite) else None,
        "max": float(finite.max()) if len(finite) else None,
        "nonfinite": len(values) - len(finite),
    }


def norm_values(norms: GradientNorms) -> dict[str, Any] | None:
    """Statistics of the gradient norms; ``explained``: how many of those that are not finite."""
    found = statistic_values(norms.values[norms.is_told])
    return found and {**found, "explained": int(norms.is_explained.sum())}


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
