"""The charts of a model by name, for pages, downloads and documents."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from assessments.charts import performance as draw
from assessments.charts.drawing import as_svg
from assessments.performance.metric_bars import Bars, bars_of
from assessments.performance.profiles import (
    PROFILES_SHOWN,
    mean_of,
    operator_profiles,
    operators_of,
    step_profiles,
    steps_of,
    timelines_of,
    traces,
)
from assessments.performance.rounds import history
from assessments.performance.scaling import scaling_of
from engagements.models import MigratedModel
from workers.models import StoredReading


def chart_spec(model: MigratedModel, name: str, profile: int | None = None
               ) -> dict[str, Any] | None:
    """The Vega-Lite specification of a chart in the active language; None without data.

    Args:
        name: one of CHARTS.
        profile: number of the file that `steps`, `timeline`, `operators` show; else the newest.
    """
    make = CHARTS.get(name)
    return make(model, profile) if make else None


def charts_of(model: MigratedModel) -> list[str]:
    """Names of the charts for documents that the model may have data for, in the order of
    CHARTS."""
    has_profiles = StoredReading.objects.filter(artifact__model=model, kind="profile").exists()
    return [name for name in CHARTS if name not in ON_SCREEN and (
        has_profiles or name not in OF_PROFILES)]


def chart_svg(model: MigratedModel, name: str, profile: int | None = None) -> str | None:
    """The same picture as SVG text for documents; None without data."""
    spec = chart_spec(model, name, profile)
    return as_svg(spec) if spec else None


def chosen(readings: QuerySet[StoredReading], profile: int | None) -> StoredReading | None:
    """The reading of the file with that number, else the newest."""
    if profile:
        return readings.filter(artifact=profile).first()
    return readings.first()


def bars_picture(bars: list[Bars]) -> dict[str, Any] | None:
    """The specification of the chart `bars` of what was read, in the active language."""
    if not bars:
        return None
    return draw.bars_spec(bars, is_practice=any(entry.is_practice for entry in bars))


def _bars(model: MigratedModel, _profile: int | None) -> dict | None:
    return bars_picture(bars_of(model, history(model)))


def _steps(model: MigratedModel, profile: int | None) -> dict | None:
    reading = chosen(step_profiles(model), profile)
    steps = steps_of(reading) if reading else []
    if not steps:
        return None
    return draw.step_time_spec(steps, _("Step time of %(file)s") % {"file": reading.artifact.name},
                               is_practice=reading.artifact.is_practice)


def _profiles(model: MigratedModel, _profile: int | None) -> dict | None:
    """Two profiles or more: their means, oldest first."""
    readings = list(step_profiles(model)[:PROFILES_SHOWN])[::-1]
    means = [mean for reading in readings if (mean := mean_of(reading))]
    if len(means) < 2:
        return None
    return draw.step_time_spec(means, _("Mean step time by profile"),
                               is_practice=any(r.artifact.is_practice for r in readings))


def _timeline(model: MigratedModel, profile: int | None) -> dict | None:
    reading = chosen(traces(model), profile)
    if reading is None:
        return None
    return draw.timeline_spec(timelines_of(reading), _("Timeline by rank"),
                              is_practice=reading.artifact.is_practice)


def _operators(model: MigratedModel, profile: int | None) -> dict | None:
    reading = chosen(operator_profiles(model), profile)
    operators = operators_of(reading) if reading else []
    if not operators:
        return None
    return draw.operators_spec(operators, is_practice=reading.artifact.is_practice)


def _scaling(model: MigratedModel, _profile: int | None) -> dict | None:
    found = scaling_of(model, _("project runs"))
    return draw.scaling_spec(found) if found.points else None


def _rounds(model: MigratedModel, _profile: int | None) -> dict | None:
    found = history(model)
    if len(found.rows) < 2 or not found.metrics:
        return None
    return draw.rounds_spec(found, bars_of(model, found))


CHARTS: dict[str, Callable[[MigratedModel, int | None], dict | None]] = {
    "bars": _bars, "steps": _steps, "profiles": _profiles, "timeline": _timeline,
    "operators": _operators, "scaling": _scaling, "rounds": _rounds}
OF_PROFILES = ("steps", "profiles", "operators")
ON_SCREEN = ("timeline",)  # thousands of spans: too many for paper
