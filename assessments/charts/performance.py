"""Charts of performance: bars per metric, step times, operators, scaling, rounds.

Each is one Vega-Lite specification in the active language, drawn by the browser and, as SVG, for
documents. Practice data says so in the title.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assessments.charts.drawing import (
    BASELINE_COLOUR,
    CANDIDATE_COLOUR,
    FONT,
    LIMIT_COLOUR,
    WIDTH,
    built_quickly,
    styled,
)
from assessments.performance.metric_bars import Bars
from assessments.performance.profiles import PARTS, OperatorTime, StepTime
from assessments.performance.rounds import History
from assessments.performance.scaling import Point, Scaling
from workers.labels.number_text import figure_text

GREY = "#9aa4b2"
BEFORE_COLOUR = "#7c93b8"
COLOURS = {
    gettext_lazy("Baseline"): BASELINE_COLOUR,
    gettext_lazy("Baseline, not confirmed"): BASELINE_COLOUR,
    gettext_lazy("Before tuning"): BEFORE_COLOUR, gettext_lazy("First run"): BEFORE_COLOUR,
    gettext_lazy("After tuning"): CANDIDATE_COLOUR, gettext_lazy("Newest run"): CANDIDATE_COLOUR}
BAR_WIDTH, BAR_HEIGHT, COLUMNS = 232, 150, 3
ROW_HEIGHT = 26


@built_quickly
def bars_spec(bars: Iterable[Bars], *, is_practice: bool = False) -> dict[str, Any]:
    """Baseline, before and after as bars, the target as a red line; one panel per metric."""
    import altair as alt

    bars = list(bars)
    panels = [_panel(alt, entry) for entry in bars]
    chart = alt.concat(*panels, columns=COLUMNS, spacing=28).resolve_scale(
        y="independent", color="shared")
    title = (_("Before, after and target") if any(entry.is_of_rounds for entry in bars)
             else _("First run, newest run and target"))
    return _finished(chart, title, is_practice=is_practice)


def _panel(alt, entry: Bars):
    names = [entry.baseline_label, entry.before_label, entry.after_label]
    values = [entry.baseline, None if entry.before == entry.after else entry.before.value,
              entry.after.value]
    factor = 100 if entry.metric.is_share else 1
    rows = [{"side": name, "value": value * factor, "text": _figure(value * factor)}
            for name, value in zip(names, values, strict=True) if value is not None]
    data = alt.Chart(alt.Data(values=rows))
    x = alt.X("side:N", sort=names, title=None, axis=alt.Axis(labelAngle=0))
    title = alt.TitleParams(f"{entry.metric.label} ({entry.metric.unit})", fontSize=13,
                            subtitle=_target_text(entry, factor), subtitleColor=LIMIT_COLOUR)
    top = max([row["value"] for row in rows] + [(entry.target or 0) * factor]) * 1.15
    layers = [
        data.mark_bar(size=38).encode(
            x=x, y=alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4),
                         scale=alt.Scale(domainMin=0, domainMax=top or 1, nice=False)),
            color=alt.Color("side:N", legend=None, scale=alt.Scale(
                domain=[str(name) for name in COLOURS], range=list(COLOURS.values())))),
        data.mark_text(dy=-7, fontSize=12, font=FONT).encode(x=x, y="value:Q", text="text:N"),
        *_target(alt, entry, factor)]
    return alt.layer(*layers).properties(width=BAR_WIDTH, height=BAR_HEIGHT, title=title)


def _target(alt, entry: Bars, factor: int) -> list:
    if entry.target is None:
        return []
    data = alt.Chart(alt.Data(values=[{"value": entry.target * factor}]))
    return [data.mark_rule(color=LIMIT_COLOUR, strokeWidth=1.8, strokeDash=[6, 3]).encode(
        y="value:Q")]


def _target_text(entry: Bars, factor: int) -> str:
    """A blank keeps panels with and without a target in line."""
    if entry.target is None:
        return " "
    return _("Target %(value)s") % {"value": f"{entry.sign} {_figure(entry.target * factor)}"}


def _figure(value: float) -> str:
    """Four digits, of a thousand and more six with separators: 0.6706, 21,743."""
    if abs(value) < 1000:
        return figure_text(value, 4)
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"


@built_quickly
def step_time_spec(steps: list[StepTime], title: str, *, is_practice: bool = False
                   ) -> dict[str, Any]:
    """Computing, uncovered communication and free time of each row, stacked, in ms."""
    import altair as alt

    names = {"computing": _("Computing"), "communication": _("Uncovered communication"),
             "free": _("Free time")}
    rows = [{"row": step.label, "part": names[part], "order": n,
             "value": getattr(step, part), "share": step.share(part) or 0}
            for step in steps for n, part in enumerate(PARTS)]
    chart = alt.Chart(alt.Data(values=rows)).mark_bar().encode(
        y=alt.Y("row:N", title=None, sort=[step.label for step in steps]),
        x=alt.X("value:Q", title=_("Milliseconds")),
        color=alt.Color("part:N", scale=alt.Scale(
            domain=list(names.values()), range=[CANDIDATE_COLOUR, BASELINE_COLOUR, GREY]),
                        legend=alt.Legend(symbolType="square")),
        order=alt.Order("order:Q"),
        tooltip=[alt.Tooltip("row:N", title=_("Row")), alt.Tooltip("part:N", title=_("Part")),
                 alt.Tooltip("value:Q", title=_("Milliseconds"), format=".4~g"),
                 alt.Tooltip("share:Q", title=_("Share"), format=".1%")],
    ).properties(width=WIDTH - 120, height=max(2, len(steps)) * ROW_HEIGHT)
    return _finished(chart, title, is_practice=is_practice)


@built_quickly
def operators_spec(operators: list[OperatorTime], *, is_practice: bool = False) -> dict[str, Any]:
    """The operators that take longest, in ms, with their share of the total."""
    import altair as alt

    rows = [{"name": op.name[:60], "value": op.milliseconds,
             "text": f"{100 * op.share:.1f} %" if op.share is not None else ""}
            for op in operators]
    y = alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=250))
    data = alt.Chart(alt.Data(values=rows))
    chart = alt.layer(
        data.mark_bar(color=CANDIDATE_COLOUR).encode(
            y=y, x=alt.X("value:Q", title=_("Milliseconds"))),
        data.mark_text(align="left", dx=4, fontSize=12, font=FONT).encode(
            y=y, x="value:Q", text="text:N"),
    ).properties(width=WIDTH - 300, height=max(2, len(rows)) * ROW_HEIGHT)
    return _finished(chart, _("Operators that take longest"), is_practice=is_practice)


@built_quickly
def scaling_spec(scaling: Scaling) -> dict[str, Any]:
    """Speed-up over cards by source, which may count in units of their own; dashed: the ideal."""
    import altair as alt

    rows = [{"cards": p.cards, "value": speed_up, "throughput": p.throughput, "source": p.source}
            for p, speed_up in _speed_ups(scaling.points)]
    cards = sorted({row["cards"] for row in rows})
    x = alt.X("cards:Q", title=_("Cards"), scale=alt.Scale(type="log", base=2),
              axis=alt.Axis(values=cards, format="d"))
    y = alt.Y("value:Q", title=_("Speed-up"), scale=alt.Scale(type="log", base=2),
              axis=alt.Axis(values=cards, format="~g"))
    ideal = alt.Data(values=[{"cards": n, "value": n} for n in cards])
    chart = alt.layer(
        alt.Chart(ideal).mark_line(strokeDash=[5, 4], strokeWidth=1.2, color=GREY).encode(
            x=x, y=y),
        alt.Chart(alt.Data(values=rows)).mark_line(point=alt.OverlayMarkDef(size=50)).encode(
            x=x, y=y, color=alt.Color("source:N"),
            tooltip=[alt.Tooltip("source:N", title=_("Source")),
                     alt.Tooltip("cards:Q", title=_("Cards")),
                     alt.Tooltip("value:Q", title=_("Speed-up"), format=".4~g"),
                     alt.Tooltip("throughput:Q", title=_("Total throughput"))]),
    ).properties(width=WIDTH - 80, height=280)
    return _finished(chart, _("Speed-up over cards; dashed: ideal"),
                     is_practice=scaling.is_practice)


def _speed_ups(points: list[Point]) -> Iterator[tuple[Point, float]]:
    """Each throughput in cards' worth: the run on the source's fewest cards k counts as k."""
    for point in points:
        base = min((p for p in points if p.source == point.source), key=lambda p: p.cards)
        yield point, point.throughput / base.throughput * base.cards


@built_quickly
def rounds_spec(history: History) -> dict[str, Any]:
    """Each metric's gain over the starting point by round; hollow: the change was reverted."""
    import altair as alt

    rows = [{"round": row.round.number, "metric": str(cell.metric.label),
             "value": cell.total.relative if cell.total else 0.0, "kept": row.round.is_kept}
            for row in history.rows for cell in row.cells
            if cell.measurement and (cell.total or not row.round.number)]
    x = alt.X("round:Q", title=_("Round"), axis=alt.Axis(
        values=[row.round.number for row in history.rows], format="d"))
    y = alt.Y("value:Q", title=_("Improvement over start"), axis=alt.Axis(format="~%"))
    colour = alt.Color("metric:N")
    data = alt.Chart(alt.Data(values=rows))
    tooltip = [alt.Tooltip("metric:N", title=_("Metric")), alt.Tooltip("round:Q", title=_("Round")),
               alt.Tooltip("value:Q", title=_("Improvement over start"), format=".2%")]
    chart = alt.layer(
        data.transform_filter("datum.kept").mark_line().encode(x=x, y=y, color=colour),
        data.mark_point(size=70, strokeWidth=2).encode(
            x=x, y=y, color=colour, tooltip=tooltip,
            fillOpacity=alt.condition("datum.kept", alt.value(1), alt.value(0)),
            fill=alt.Fill("metric:N", legend=None)),
    ).properties(width=WIDTH - 80, height=260)
    return _finished(chart, _("Improvement over the starting point, by round"),
                     is_practice=any(row.is_practice for row in history.rows))


def _finished(chart, title: str, *, is_practice: bool) -> dict[str, Any]:
    if is_practice:
        title = _("%(title)s – practice data, not evidence") % {"title": title}
    import altair as alt

    return styled(chart.properties(title=alt.TitleParams(title, offset=14))).to_dict(
        validate=False)
