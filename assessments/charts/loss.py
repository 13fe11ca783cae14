"""The chart of a loss comparison: both curves, and the error per step below them."""

from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

from django.utils.translation import gettext as _

from assessments.charts.drawing import (
    BASELINE_COLOUR,
    CANDIDATE_COLOUR,
    CURVES_HEIGHT,
    ERROR_HEIGHT,
    FONT,
    LIMIT_COLOUR,
    WIDTH,
    built_quickly,
    styled,
)
from toolreaders.curves.alignment import Aligned
from toolreaders.curves.band import Band
from toolreaders.curves.sampling import drawing_indices
from toolreaders.verdicts.curve_figures import absolute_errors, relative_errors
from toolreaders.verdicts.sentences import shown

BAND_COLOUR = "#d9c27a"
ABSOLUTE = "mean_absolute_error"
CURVES, ERRORS = "curves", "errors"  # names of the data sets, which zooming replaces


@built_quickly
def loss_chart_spec(
    aligned: Aligned, *, threshold: Decimal | None = None, figure: float | None = None,
    judged: str = "", is_interactive: bool = True,
    findings: Sequence[dict] = (), band: Band | None = None,
) -> dict[str, Any]:
    """Both curves, and below them the error per step with the threshold; in the active language.

    Args:
        threshold: as in the criterion; a fraction for figures in per cent.
        figure: the judged figure, drawn as a dashed line beside the threshold.
        judged: its name; of absolute errors the lower chart shows those.
        is_interactive: zoom and pan; documents do without.
        findings: of the verdict, see `toolreaders.curves.differences`; the first step that differs
            is drawn as a line.
        band: of the baseline and its repeats, drawn behind the curves.
    """
    import altair as alt

    is_absolute = judged == ABSOLUTE
    curves = _curves(alt, aligned)
    if is_interactive:  # the step axis is shared: what moves the upper chart moves both
        curves = curves.add_params(
            alt.selection_interval(bind="scales", encodings=["x"], name="zoom"))
    if aligned.nonfinite:
        figure = None  # the figure leaves those steps out and would reassure
    below = [_errors(alt, aligned, is_absolute=is_absolute),
             *_limits(alt, threshold, figure, is_absolute=is_absolute)]
    marks = [*_nonfinite(alt, aligned), *_first_difference(alt, aligned, findings)]
    chart = alt.vconcat(
        alt.layer(*_band(alt, aligned, band), curves, *marks).properties(
            width=WIDTH, height=CURVES_HEIGHT, title=_("Training loss: baseline and NPU")),
        alt.layer(*below).properties(width=WIDTH, height=ERROR_HEIGHT),
        spacing=12,
    ).resolve_scale(x="shared", color="independent", strokeDash="independent")
    spec = styled(chart).to_dict(validate=False)
    spec["datasets"] = {CURVES: curve_rows(aligned),  # put in last: Altair copies what it holds
                        ERRORS: error_rows(aligned, is_absolute=is_absolute)}
    return spec


def _band(alt, aligned: Aligned, band: Band | None) -> list:
    """The area between the least and the largest loss of the baseline's runs."""
    if band is None:
        return []
    places = sorted({*drawing_indices(band.low), *drawing_indices(band.high)})
    rows = [{"step": band.steps[i], "low": _number(band.low[i]), "high": _number(band.high[i]),
             "band": _("Band of the baseline's %(runs)d runs") % {"runs": band.runs}}
            for i in places if aligned.steps[0] <= band.steps[i] <= aligned.steps[-1]]
    return [alt.Chart(alt.Data(values=rows)).mark_area(opacity=0.5, clip=True).encode(
        x="step:Q", y=alt.Y("low:Q", title=_("Loss"), scale=alt.Scale(zero=False)), y2="high:Q",
        fill=alt.Fill("band:N", scale=alt.Scale(range=[BAND_COLOUR]),
                      legend=alt.Legend(symbolType="square")))] if rows else []


def curve_rows(aligned: Aligned) -> list[dict]:
    names = _curve_names()
    return (_rows(aligned, aligned.baseline, names[0])
            + _rows(aligned, aligned.candidate, names[1]))


def _curve_names() -> list[str]:
    return [_("Baseline (GPU)"), _("NPU")]


def error_rows(aligned: Aligned, *, is_absolute: bool) -> list[dict]:
    b, n = aligned.baseline, aligned.candidate
    values = absolute_errors(b, n) if is_absolute else relative_errors(b, n)
    return _rows(aligned, values, _("Absolute error") if is_absolute else _("Relative error"))


def _rows(aligned: Aligned, losses: Sequence[float], name: str) -> list[dict]:
    return [{"step": aligned.steps[i], "value": _number(losses[i]), "curve": name}
            for i in drawing_indices(losses)]


def _number(value: float) -> float | None:
    """None draws a gap; JSON holds no NaN."""
    return value if isfinite(value) else None


def _curves(alt, aligned: Aligned):
    names = _curve_names()
    return alt.Chart(alt.NamedData(CURVES)).mark_line(
        strokeWidth=1.4, clip=True, invalid="break-paths-show-path-domains",
    ).encode(
        x=alt.X("step:Q", title=None, axis=alt.Axis(labels=False, format="~d"), scale=_steps(
            alt, aligned)),
        y=alt.Y("value:Q", title=_("Loss"), scale=alt.Scale(zero=False)),
        color=alt.Color("curve:N", scale=alt.Scale(
            domain=names, range=[BASELINE_COLOUR, CANDIDATE_COLOUR])),
        strokeDash=alt.StrokeDash("curve:N", scale=alt.Scale(
            domain=names, range=[[1, 0], [6, 3]])),
        tooltip=_tooltip(alt, _("Loss")),
    )


def _tooltip(alt, label: str) -> list:
    return [alt.Tooltip("step:Q", title=_("Step")), alt.Tooltip("value:Q", title=label)]


def _steps(alt, aligned: Aligned):
    first, last = aligned.steps[0], aligned.steps[-1]
    return alt.Scale(domain=[first, max(last, first + 1)], nice=False)


def _errors(alt, aligned: Aligned, *, is_absolute: bool):
    title = _("Absolute error") if is_absolute else _("Relative error")
    return alt.Chart(alt.NamedData(ERRORS)).mark_line(
        strokeWidth=1, color=CANDIDATE_COLOUR, clip=True,
        invalid="break-paths-show-path-domains",
    ).encode(
        x=alt.X("step:Q", title=_("Step"), axis=alt.Axis(format="~d", labelSeparation=8),
                scale=_steps(alt, aligned)),
        y=alt.Y("value:Q", title=title,
                axis=alt.Axis(format="~g" if is_absolute else "~%", tickCount=5)),
        tooltip=_tooltip(alt, title),
    )


def _limits(alt, threshold: Decimal | None, figure: float | None, *, is_absolute: bool) -> list:
    """Threshold and judged figure as lines with a legend; nothing without a threshold."""
    if threshold is None:
        return []
    figure_text, limit_text = shown(figure or 0.0, threshold, "" if is_absolute else "%")
    rows = [{"value": float(threshold), "line": _("Threshold %(value)s") % {"value": limit_text}}]
    if figure is not None and isfinite(figure):
        rows.append({"value": figure, "line": _("Judged figure %(value)s") % {
            "value": figure_text}})
    names = [row["line"] for row in rows]
    return [alt.Chart(alt.Data(values=rows)).mark_rule(strokeWidth=1.8, clip=True).encode(
        y="value:Q",
        color=alt.Color("line:N", scale=alt.Scale(
            domain=names, range=[LIMIT_COLOUR, BASELINE_COLOUR][:len(names)])),
        strokeDash=alt.StrokeDash("line:N", scale=alt.Scale(
            domain=names, range=[[1, 0], [5, 4]][:len(names)])),
    )]


def _nonfinite(alt, aligned: Aligned) -> list:
    """A red mark where the first value is NaN or infinite."""
    step = aligned.first_nonfinite_step
    if step is None:
        return []
    return _marked(alt, step, _("Not finite from step %(step)s") % {"step": step},
                   LIMIT_COLOUR, height=4)


def _first_difference(alt, aligned: Aligned, findings: Sequence[dict]) -> list:
    """A line where the curves differ first beyond the tolerance, if that is in the window."""
    step = next((one["step"] for one in findings if one["code"] == "first_difference"), None)
    if step is None or not aligned.steps[0] <= step <= aligned.steps[-1]:
        return []
    return _marked(alt, step, _("Differs from step %(step)s") % {"step": step}, "#5f3dc4",
                   height=20, is_left=step > (aligned.steps[0] + aligned.steps[-1]) / 2)


def _marked(alt, step: int, label: str, colour: str, *, height: int, is_left: bool = False) -> list:
    data = alt.Chart(alt.Data(values=[{"step": step, "label": label}]))
    return [
        data.mark_rule(color=colour, strokeWidth=1.5, clip=True).encode(x="step:Q"),
        data.mark_text(align="right" if is_left else "left", dx=-5 if is_left else 5,
                       baseline="top", color=colour, fontSize=12, font=FONT).encode(
            x="step:Q", y=alt.value(height), text="label:N"),
    ]
