"""The curves of several training runs on one step axis: loss, and gradient norm where logs print
it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from django.utils.translation import gettext as _

from assessments.charts.drawing import (
    BASELINE_COLOUR,
    CANDIDATE_COLOUR,
    CURVES_HEIGHT,
    ERROR_HEIGHT,
    WIDTH,
    built_quickly,
    styled,
)
from toolreaders.curves.sampling import drawing_indices
from toolreaders.training.series import LossSeries, read_series
from workers.artifacts.artifact_store import read_stored
from workers.models import Artifact

COLOURS = [BASELINE_COLOUR, CANDIDATE_COLOUR, "#2b8a3e", "#862e9c", "#c2255c"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4]]  # told apart without colours too


@dataclass(frozen=True)
class Curve:
    """A run's name, and what its raw log holds."""

    name: str
    series: LossSeries

    @classmethod
    def of(cls, name: str, artifact: Artifact) -> "Curve":
        """Read from the stored file; raises ReadError."""
        return cls(name, read_stored(read_series, artifact))


@built_quickly
def runs_spec(curves: Sequence[Curve]) -> dict[str, Any]:
    """A Vega-Lite specification in the active language; thinned with every extreme kept."""
    import altair as alt

    panels = [_panel(alt, curves, _("Loss"), CURVES_HEIGHT, [
        row for curve in curves for row in _rows(curve, curve.series.losses)])]
    norms = [row for curve in curves if curve.series.norms for row in _rows(
        curve, [value if printed else float("nan") for value, printed in zip(
            curve.series.norms.values, curve.series.norms.has_value, strict=True)])]
    if norms:
        panels.append(_panel(alt, curves, _("Gradient norm"), ERROR_HEIGHT, norms))
    return styled(alt.vconcat(*panels, spacing=12).resolve_scale(x="shared")).to_dict(
        validate=False)


def _rows(curve: Curve, values: Sequence[float]) -> list[dict]:
    return [{"step": curve.series.steps[i], "curve": curve.name,
             "value": values[i] if isfinite(values[i]) else None} for i in drawing_indices(values)]


def _panel(alt, curves: Sequence[Curve], title: str, height: int, rows: list[dict]):
    names = [curve.name for curve in curves]
    zoom = alt.selection_interval(bind="scales", encodings=["x"], name=f"zoom{height}")
    return alt.Chart(alt.Data(values=rows)).mark_line(
        strokeWidth=1.4, clip=True, invalid="break-paths-show-path-domains").encode(
        x=alt.X("step:Q", title=_("Step"), axis=alt.Axis(format="~d"), scale=alt.Scale(
            zero=False, nice=False)),
        y=alt.Y("value:Q", title=title, scale=alt.Scale(zero=False)),
        color=alt.Color("curve:N", scale=alt.Scale(domain=names, range=COLOURS[:len(names)])),
        strokeDash=alt.StrokeDash("curve:N", scale=alt.Scale(
            domain=names, range=DASHES[:len(names)])),
        tooltip=[alt.Tooltip("curve:N", title=_("Run")), alt.Tooltip("step:Q", title=_("Step")),
                 alt.Tooltip("value:Q", title=title)],
    ).add_params(zoom).properties(width=WIDTH, height=height)
