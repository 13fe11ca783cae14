"""Under which conditions each latency and throughput was measured (DOMAIN 3.4, 9.8).

A condition stands in the file that the figure was read from, else in the settings of its run; the
latter is said, because a tool may have done otherwise. Neither is guessed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from assessments.definitions.aspects import Aspect, aspect_of
from assessments.models import Criterion, Measurement, Verdict
from assessments.performance.gains import BY_NAME
from assessments.presentation.verdict_rows import trimmed
from assessments.verdicts.run_settings import run_settings
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from toolreaders.verdicts.quantity_rows import BY_NAME as ROWS
from toolreaders.verdicts.sentences import in_unit
from workers.models import Job, StoredReading

# Condition: places in a reading's values, and names among the settings of a run.
CONDITIONS: tuple[tuple[object, tuple[str, ...], tuple[str, ...]], ...] = (
    (lambda: _("Batch"), ("batch_size",), (
        "batch_size", "batchsize", "global_batch_size", "micro_batch_size", "batch")),
    (lambda: _("Lengths (input / output)"), (), ()),
    (lambda: _("Concurrency"), ("requests.concurrency", "requests.rate"), (
        "concurrency", "max_concurrency", "parallel")),
    (lambda: _("Warm-up"), ("warm_up_excluded", "iteration_time_ms.warm_up_excluded"), (
        "warmup", "warmup_count", "num_warmup", "warmup_iters")),
    (lambda: _("Rounds"), ("samples", "runs", "requests.total", "requests.completed",
                           "iteration_time_ms.points"),
     ("loop", "num_prompts", "number", "train_iters", "loops")),
)
LENGTHS = ((("tokens.input",), ("input_len", "random_input_len", "seq_length", "input_shape")),
           (("tokens.output",), ("output_tokens", "output_len", "random_output_len")))
STATISTICS = ("mean", "median", "p99", "max")


@dataclass(frozen=True)
class Measured:
    """A measured figure of performance with what its run left behind."""

    number: str  # of its test case
    criterion: Criterion
    measurement: Measurement
    readings: list[dict]  # values: of the figure's own file first, then of the run's others

    @property
    def job(self) -> Job | None:
        return self.measurement.job


def measuring_conditions(source: Source, numbered: dict[int, str]) -> dict:
    """A row per judged figure of performance.

    Args:
        numbered: the number of a criterion's test case by the criterion's key.
    """
    rows = [_row(entry) for entry in _measured(source, numbered)]
    return table(lambda: _(
        "Conditions of the performance figures; “not stated”: neither by the tool nor by the "
        "run's settings"), [
        column(lambda: _("Case"), "code"), column(lambda: _("Figure")),
        *(column(title) for title, _places, _names in CONDITIONS),
        *(column(lambda s=statistic: _statistic(s)) for statistic in STATISTICS)],
        rows, is_dense=True, empty=lambda: _("No performance figure was judged."))


def _statistic(name: str) -> str:
    return {"mean": _("Mean"), "median": _("Median"), "p99": "P99", "max": _("Maximum")}[name]


def _measured(source: Source, numbered: dict[int, str]) -> Iterator[Measured]:
    found = [(criterion, verdict.measurement) for criterion, verdict in source.judged
             if _is_timed(criterion, verdict)]
    files, of_jobs = _readings([measurement for _criterion, measurement in found])
    for criterion, measurement in found:
        own = files.get(measurement.artifact_id, [])
        others = of_jobs.get(measurement.job_id, []) if measurement.job_id else []
        yield Measured(numbered[criterion.pk], criterion, measurement,
                       own + [values for values in others if values not in own])


def _is_timed(criterion: Criterion, verdict: Verdict | None) -> bool:
    return bool(verdict and verdict.measurement
                and aspect_of(criterion.definition.quantity) == Aspect.PERFORMANCE)


def _readings(measurements: list[Measurement]) -> tuple[dict, dict]:
    """Values by file and by job, each the newest reading first."""
    files: dict[int, list[dict]] = {}
    of_jobs: dict[int, list[dict]] = {}
    jobs = [row.job_id for row in measurements if row.job_id]
    readings = StoredReading.objects.filter(artifact__job__in=jobs) | (
        StoredReading.objects.filter(artifact__in=[row.artifact_id for row in measurements]))
    for reading in readings.select_related("artifact").distinct().order_by("-pk"):
        files.setdefault(reading.artifact_id, []).append(reading.values)
        if reading.artifact.job_id and reading.kind in ("inference_benchmark", "training_log"):
            of_jobs.setdefault(reading.artifact.job_id, []).append(reading.values)
    return files, of_jobs


def _row(entry: Measured) -> list:
    settings = run_settings(entry.job) if entry.job else {}
    quantity = entry.criterion.definition.quantity
    metric = BY_NAME[quantity]
    cells = [_setting(entry, settings, places, names) if places or names
             else _lengths(entry, settings) for _title, places, names in CONDITIONS]
    return [entry.number,
            both(lambda: f"{entry.criterion.model.code} · {metric.label} · "
                         f"E{entry.measurement.artifact_id}"),
            *cells,
            *(_figure(entry, quantity, statistic, metric.unit) for statistic in STATISTICS)]


def _setting(entry: Measured, settings: dict[str, str], places: tuple[str, ...],
             names: tuple[str, ...]) -> dict[str, str]:
    value, is_set = _value(entry, settings, places, names)
    if "warm_up_excluded" in places and entry.criterion.definition.quantity == "iteration_time_ms":
        times = next(filter(None, (found.get("iteration_time_ms") for found in entry.readings)), {})
        if trimmed(times):
            return both(lambda: trimmed(times))
    return both(lambda: _shown(value, is_set))


def _lengths(entry: Measured, settings: dict[str, str]) -> dict[str, str]:
    """Tokens of all requests, or the lengths that were set; each side by itself."""
    sides = [_value(entry, settings, places, names) for places, names in LENGTHS]
    if not any(value for value, _is_set in sides):
        return both(lambda: _shown("", is_set=False))
    return both(lambda: " / ".join(_shown(value, is_set) for value, is_set in sides))


def _value(entry: Measured, settings: dict[str, str], places: tuple[str, ...],
           names: tuple[str, ...]) -> tuple[str, bool]:
    """(text, whether it is only what was set); "" where neither file nor settings say it."""
    for place in places:
        for values in entry.readings:
            if (found := _at(values, place)) is not None:
                return f"{found:g}", False
    return next((settings[name] for name in names if settings.get(name)), ""), True


def _shown(value: str, is_set: bool) -> str:
    if not value:
        return _("not stated")
    return _("%(value)s (as set)") % {"value": value} if is_set else value


def _figure(entry: Measured, quantity: str, statistic: str, unit: str) -> str | dict[str, str]:
    if place := ROWS[quantity].statistics_path:
        for values in entry.readings:
            if (found := _at(values, f"{place}.{statistic}")) is not None:
                return f"{found:.4g} {unit}"
    elif statistic == "mean" and entry.measurement.value is not None:
        return f"{in_unit(entry.measurement.value, unit)}"
    return both(lambda: _("not stated"))


def _at(values: dict, place: str) -> float | None:
    """The number at a dotted place; of a list its length."""
    found: object = values
    for key in place.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    if isinstance(found, list):
        return float(len(found)) or None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None
