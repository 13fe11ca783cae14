"""Charts of performance: bars per metric, step times, timelines, operators, scaling,
rounds.

Each is one Vega-Lite specification in the active language, drawn by the browser and, as SVG, for
documents. Practice data says so in the title.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from assessments.charts.drawing import (
    BASELINE_COLOUR,
    CANDIDATE_COLOUR,
    FONT,
    LIMIT_COLOUR,
    WIDTH,
    built_quickly,
    styled,
)
from assessments.performance.gains import Metric
from assessments.performance.metric_bars import Bars
from assessments.performance.profiles import (
    PARTS,
    TIMELINE_PARTS,
    OperatorTime,
    RankTimeline,
    StepTime,
)
from assessments.performance.rounds import History
from assessments.performance.scaling import Point, Scaling
from workers.labels.number_text import figure_text

GREY = "#9aa4b2"
BETTER_COLOUR, REVERTED_COLOUR = "#2b8a3e", "#d5d9e0"
BEFORE_COLOUR = "#7c93b8"
COLOURS = {
    gettext_lazy("Baseline"): BASELINE_COLOUR,
    gettext_lazy("Baseline, not confirmed"): BASELINE_COLOUR,
    gettext_lazy("Before tuning"): BEFORE_COLOUR, gettext_lazy("First run"): BEFORE_COLOUR,
    gettext_lazy("After tuning"): CANDIDATE_COLOUR, gettext_lazy("Newest run"): CANDIDATE_COLOUR}
BAR_WIDTH, BAR_HEIGHT, COLUMNS = 232, 150, 3
ORDERS_APART = 50  # times; then the smaller bar would not be seen on one scale from 0
ROW_HEIGHT = 26
RANKS_DRAWN = 8  # the table below has all


@built_quickly
def bars_spec(bars: Iterable[Bars], *, is_practice: bool = False) -> dict[str, Any]:
    """Baseline, before and after as bars, the target as a red line; one panel per metric, where
    they lie orders apart a bullet chart."""
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
    figures = [row["value"] for row in rows] + [(entry.target or 0) * factor]
    if entry.target and min(figures) > 0 and max(figures) > ORDERS_APART * min(figures):
        return _bullet(alt, data, entry, factor, title)
    top = max(figures) * 1.15
    layers = [
        data.mark_bar(size=38).encode(
            x=x, y=alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4),
                         scale=alt.Scale(domainMin=0, domainMax=top or 1, nice=False)),
            color=alt.Color("side:N", legend=None, scale=alt.Scale(
                domain=[str(name) for name in COLOURS], range=list(COLOURS.values())))),
        data.mark_text(dy=-7, fontSize=12, font=FONT).encode(x=x, y="value:Q", text="text:N"),
        *_target(alt, entry, factor)]
    return alt.layer(*layers).properties(width=BAR_WIDTH, height=BAR_HEIGHT, title=title)


def _bullet(alt, data, entry: Bars, factor: int, title):
    """Where values and target lie orders of magnitude apart: points on a logarithmic scale, which
    bars from 0 cannot have."""
    y = alt.Y("side:N", sort=None, title=None)
    x = alt.X("value:Q", title=_("logarithmic scale"), scale=alt.Scale(type="log"),
              axis=alt.Axis(tickCount=4, format="~g"))
    target = entry.target * factor
    figures = [data.transform_filter(f"datum.value {side} {target}").mark_text(
        align=align, dy=-13, fontSize=12, font=FONT).encode(x="value:Q", y=y, text="text:N")
        for side, align in (("<", "right"), (">=", "left"))]  # away from the target's line
    layers = [
        alt.Chart(alt.Data(values=[{"value": target}])).mark_rule(
            color=LIMIT_COLOUR, strokeWidth=1.8, strokeDash=[6, 3]).encode(x="value:Q"),
        data.mark_point(filled=True, opacity=1, size=120).encode(x=x, y=y, color=alt.Color(
            "side:N", legend=None, scale=alt.Scale(
                domain=[str(name) for name in COLOURS], range=list(COLOURS.values())))),
        *figures]
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
def timeline_spec(ranks: list[RankTimeline], title: str, *, is_practice: bool = False
                  ) -> dict[str, Any]:
    """What each rank did when, in ms since its trace began: a row per rank and part, darker where
    a span of time was busier. The wheel zooms."""
    import altair as alt

    names = dict(zip(TIMELINE_PARTS, (
        _("Computing"), _("Communication"), _("Uncovered communication"), _("Free time")),
        strict=True))
    rows = [{"row": f"{rank.label} · {names[part]}", "part": names[part], "from": n * rank.span,
             "to": (n + 1) * rank.span, "share": share}
            for rank in ranks[:RANKS_DRAWN] for part in TIMELINE_PARTS
            for n, share in enumerate(rank.shares.get(part, ())) if share]
    order = [f"{rank.label} · {name}" for rank in ranks[:RANKS_DRAWN] for name in names.values()]
    zoom = alt.selection_interval(bind="scales", encodings=["x"], name="zoom")
    chart = alt.Chart(alt.Data(values=rows)).mark_rect(clip=True).encode(
        y=alt.Y("row:N", title=None, sort=order, axis=alt.Axis(labelLimit=260),
                scale=alt.Scale(domain=order, paddingInner=0.15)),
        x=alt.X("from:Q", title=_("Milliseconds since the rank's trace began"),
                scale=alt.Scale(zero=False, nice=False)), x2="to:Q",
        color=alt.Color("part:N", scale=alt.Scale(
            domain=list(names.values()), range=[
                CANDIDATE_COLOUR, BEFORE_COLOUR, BASELINE_COLOUR, GREY]),
                        legend=alt.Legend(symbolType="square")),
        opacity=alt.Opacity("share:Q", legend=None, scale=alt.Scale(
            domain=[0, 1], range=[0.1, 1])),
        tooltip=[alt.Tooltip("row:N", title=_("Row")),
                 alt.Tooltip("from:Q", title=_("From (ms)"), format=".6~g"),
                 alt.Tooltip("to:Q", title=_("To (ms)"), format=".6~g"),
                 alt.Tooltip("share:Q", title=_("Share"), format=".1%")],
    ).add_params(zoom).properties(width=WIDTH - 240, height=len(order) * 18)
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
def rounds_spec(history: History, bars: Iterable[Bars] = ()) -> dict[str, Any]:
    """Each metric as a waterfall: from the start through what each round changed, the target as a
    red line. A round on another number of cards stands by itself.

    Args:
        bars: of the same model, with the targets.
    """
    import altair as alt

    targets = {entry.metric: entry for entry in bars}
    kinds = {pgettext("of tuning rounds", "Start"): BEFORE_COLOUR, _("Better"): BETTER_COLOUR,
             _("Worse"): LIMIT_COLOUR, _("Unchanged"): GREY, _("Reverted"): REVERTED_COLOUR,
             _("Other number of cards"): BASELINE_COLOUR}
    panels = [_waterfall(alt, metric, history, targets.get(metric), kinds)
              for metric in history.metrics]
    chart = alt.concat(*panels, columns=2, spacing=28).resolve_scale(
        y="independent", color="shared")
    return _finished(chart, _("From the start to the target, round by round"),
                     is_practice=any(row.is_practice for row in history.rows))


def _waterfall(alt, metric: Metric, history: History, entry: Bars | None, kinds: dict[str, str]):
    factor = 100 if metric.is_share else 1
    rows = _steps_of(metric, history, factor)
    x = alt.X("round:N", sort=None, title=_("Round"), axis=alt.Axis(labelAngle=0))
    data = alt.Chart(alt.Data(values=rows))
    target = entry.target * factor if entry and entry.target is not None else None
    top = max([row["value"] for row in rows] + [target or 0]) * 1.15
    layers = [
        data.mark_bar(size=30).encode(
            x=x, y=alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=5), scale=alt.Scale(
                domain=[0, top or 1], nice=False)), y2="low:Q",
            color=alt.Color("kind:N", scale=alt.Scale(
                domain=list(kinds), range=list(kinds.values())),
                legend=alt.Legend(symbolType="square"))),
        data.mark_text(dy=-7, fontSize=12, font=FONT).encode(x=x, y="top:Q", text="text:N"),
        *(_target(alt, entry, factor) if entry else ())]
    title = alt.TitleParams(f"{metric.label} ({metric.unit})", fontSize=13,
                            subtitle=_target_text(entry, factor) if entry else " ",
                            subtitleColor=LIMIT_COLOUR)
    return alt.layer(*layers).properties(width=WIDTH // 2 - 70, height=200, title=title)


def _steps_of(metric: Metric, history: History, factor: int) -> list[dict]:
    """A row per round that measured the metric: from the last kept value to its own."""
    rows, level = [], None
    for row in history.rows:
        cell = next(cell for cell in row.cells if cell.metric == metric)
        if cell.value is None:
            continue
        value = cell.value * factor
        is_step = level is not None and cell.is_comparable
        low = level if is_step else 0
        if level is None:
            kind = pgettext("of tuning rounds", "Start")
        elif not is_step:
            kind = _("Other number of cards")
        elif not row.round.is_kept:
            kind = _("Reverted")
        else:
            kind = (_("Worse") if cell.gain and cell.gain.is_worse else
                    _("Better") if cell.gain and cell.gain.is_better else _("Unchanged"))
        rows.append({"round": str(row.round.number), "low": low, "value": value, "kind": kind,
                     "top": max(low, value), "text": _figure(value)})
        level = value if row.round.is_kept else level
    return rows


def _finished(chart, title: str, *, is_practice: bool) -> dict[str, Any]:
    if is_practice:
        title = _("%(title)s – practice data, not evidence") % {"title": title}
    import altair as alt

    return styled(chart.properties(title=alt.TitleParams(title, offset=14))).to_dict(
        validate=False)
