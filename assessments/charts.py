"""The chart of a loss comparison: one Vega-Lite specification for the browser and for the PDF.

Built with Altair; drawn by vega-embed in the browser and by vl-convert as SVG for documents.
"""

from decimal import Decimal
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from assessments.alignment import Aligned
from assessments.judging import aligned_curves, rule_of
from assessments.models import Criterion, MetricDefinition, Verdict
from assessments.sampling import kept_for_drawing
from assessments.sentences import shown
from assessments.verdict import relative_errors

FONT = "Noto Sans CJK SC"
WIDTH, CURVES_HEIGHT, ERROR_HEIGHT = 860, 250, 150
BASELINE_COLOUR, CANDIDATE_COLOUR, LIMIT_COLOUR = "#8a6d1f", "#1f5fbf", "#c92a2a"
ABSOLUTE = "mean_absolute_error"


def criterion_chart_spec(criterion: Criterion, verdict: Verdict, *, is_interactive: bool = True
                         ) -> dict[str, Any]:
    """The chart of a judged loss curve, read from the raw files; raises ReadError."""
    aligned = aligned_curves(criterion.baseline.artifact, verdict.measurement.artifact)
    rule = rule_of(criterion.definition)
    return loss_chart_spec(
        aligned.window(rule.first_step, rule.last_step), threshold=criterion.threshold,
        figure=verdict.figure, definition=criterion.definition, is_interactive=is_interactive)


def criterion_chart_svg(criterion: Criterion, verdict: Verdict | None) -> str | None:
    """The same chart as SVG text for documents; None where no two curves can be drawn."""
    if not can_be_drawn(criterion, verdict):
        return None
    return as_svg(criterion_chart_spec(criterion, verdict, is_interactive=False))


def can_be_drawn(criterion: Criterion, verdict: Verdict | None) -> bool:
    """Whether there are two readable curves: a verdict on a loss curve with common steps."""
    return bool(
        criterion.definition.calculator == MetricDefinition.Calculator.LOSS_CURVE
        and criterion.baseline and verdict and verdict.measurement
        and verdict.reason not in ("file_changed", "file_unreadable")
        and verdict.facts.get("common_points"))


def loss_chart_spec(
    aligned: Aligned, *, threshold: Decimal | None = None, figure: float | None = None,
    definition: MetricDefinition | None = None, is_interactive: bool = True,
) -> dict[str, Any]:
    """Both curves, and below them the error per step with the threshold; in the active language.

    Args:
        threshold: as in the criterion; a fraction for figures in per cent.
        figure: the judged figure, drawn as a dashed line beside the threshold.
        is_interactive: zoom and pan; documents do without.
    """
    import altair as alt

    is_absolute = bool(definition and definition.figure == ABSOLUTE)
    curves = _curves(alt, aligned)
    if is_interactive:  # the step axis is shared: what moves the upper chart moves both
        curves = curves.add_params(
            alt.selection_interval(bind="scales", encodings=["x"], name="zoom"))
    if aligned.nonfinite:
        figure = None  # the figure leaves those steps out and would reassure
    below = [_errors(alt, aligned, is_absolute=is_absolute),
             *_limits(alt, threshold, figure, is_absolute=is_absolute)]
    bad = _nonfinite(alt, aligned)
    chart = alt.vconcat(
        alt.layer(curves, *bad).properties(width=WIDTH, height=CURVES_HEIGHT, title=_title()),
        alt.layer(*below).properties(width=WIDTH, height=ERROR_HEIGHT),
        spacing=12,
    ).resolve_scale(x="shared", color="independent", strokeDash="independent")
    return _styled(chart).to_dict(validate=False)


def as_svg(spec: dict[str, Any]) -> str:
    """The specification as SVG text; Chinese needs the Noto Sans CJK SC font on the machine."""
    import vl_convert

    return vl_convert.vegalite_to_svg(spec)


def _title() -> str:
    return _("Training loss: baseline and NPU")


def _styled(chart):
    return chart.configure(
        background="#ffffff", font=FONT, padding=8,
    ).configure_axis(
        labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e6e8ec",
        labelColor="#333a45", titleColor="#333a45",
    ).configure_legend(
        orient="top", title=None, labelFontSize=12, labelLimit=400, padding=2,
        symbolStrokeWidth=2.5, symbolSize=260, symbolType="stroke",
    ).configure_title(fontSize=14, fontWeight="normal", anchor="start", color="#1b2330",
                      ).configure_view(stroke="#d5d9e0")


def _rows(aligned: Aligned, losses: np.ndarray, name: str) -> list[dict]:
    return [{"step": int(aligned.steps[i]), "value": _number(losses[i]), "curve": name}
            for i in kept_for_drawing(losses)]


def _number(value: float) -> float | None:
    """None draws a gap; JSON holds no NaN."""
    return float(value) if np.isfinite(value) else None


def _curves(alt, aligned: Aligned):
    names = [_("Baseline (GPU)"), _("NPU")]
    rows = (_rows(aligned, aligned.baseline, names[0])
            + _rows(aligned, aligned.candidate, names[1]))
    return alt.Chart(alt.Data(values=rows)).mark_line(
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
    first, last = int(aligned.steps[0]), int(aligned.steps[-1])
    return alt.Scale(domain=[first, max(last, first + 1)], nice=False)


def _errors(alt, aligned: Aligned, *, is_absolute: bool):
    b, n = aligned.baseline, aligned.candidate
    with np.errstate(invalid="ignore"):
        values = np.abs(n - b) if is_absolute else relative_errors(b, n)
    title = _("Absolute error") if is_absolute else _("Relative error")
    rows = _rows(aligned, values, title)
    return alt.Chart(alt.Data(values=rows)).mark_line(
        strokeWidth=1, color=CANDIDATE_COLOUR, clip=True,
        invalid="break-paths-show-path-domains",
    ).encode(
        x=alt.X("step:Q", title=_("Step"), axis=alt.Axis(format="~d"), scale=_steps(alt, aligned)),
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
    if figure is not None and np.isfinite(figure):
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
    data = alt.Chart(alt.Data(values=[{
        "step": step, "label": _("Not finite from step %(step)s") % {"step": step}}]))
    return [
        data.mark_rule(color=LIMIT_COLOUR, strokeWidth=1.5, clip=True).encode(x="step:Q"),
        data.mark_text(align="left", dx=5, baseline="top", color=LIMIT_COLOUR, fontSize=12,
                       font=FONT).encode(x="step:Q", y=alt.value(4), text="label:N"),
    ]
