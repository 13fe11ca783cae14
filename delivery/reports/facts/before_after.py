"""Figures of performance before and after tuning, side by side (DOMAIN 8.1, 9.8)."""

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from assessments.definitions.route_aspects import Side, sides_of
from assessments.models import Measurement
from assessments.performance.gains import BY_NAME, METRICS, Metric, gain
from assessments.performance.metric_bars import Bars
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from engagements.models import MigratedModel
from engagements.text.text_joining import labelled, listed

# Said even where no run measured it, for the models of which this side is delivered.
ASKED = (("tokens_per_second", Side.TRAINING), ("peak_memory_mb", Side.TRAINING),
         ("inference_throughput", Side.INFERENCE))


def before_after(source: Source) -> dict:
    """A row per model and metric that stands beside another figure; then, in one row per metric,
    the models of which only one run measured it, and those of which none did."""
    known = {model: source.bars(model) for model in source.models}
    has_rounds = any(bars.is_of_rounds for found in known.values() for bars in found)
    return table(lambda: _("Before and after: throughput, time and memory") if has_rounds
                 else _("Throughput, time and memory"), [
        column(lambda: _("Models")), column(lambda: _("Metric")),
        column(lambda: _("Source platform")), column(
            lambda: _("Before tuning, else first run") if has_rounds else _("First run")),
        column(lambda: _("After tuning, else newest run") if has_rounds else _("Newest run")),
        column(lambda: pgettext("of a figure", "Change"))],
        [*(_row(model, bars) for model, found in known.items() for bars in found
           if bars.is_compared), *_alone(known), *_unmeasured(known)], is_dense=True,
        empty=lambda: _("No model is in scope."))


def worsened(source: Source) -> list[dict]:
    """Figures of the target that are worse than the source's, or than before the tuning."""
    return [{"model": model.code, "name": both(lambda b=bars: b.metric.label), "against": against,
             "by": f"{abs(change.relative):.1%}"}
            for model in source.models for bars in source.bars(model)
            for against, change in (
                ("source", gain(bars.metric, bars.baseline, bars.after and bars.after.value)),
                ("before", bars.gain)) if change and change.is_worse]


def _row(model: MigratedModel, bars: Bars) -> list:
    is_one_run = bars.before == bars.after
    return [model.code, both(lambda: " = ".join([str(bars.metric.label), *bars.derivations])),
            both(lambda: _reference(bars)),
            both(lambda: _("one run only") if is_one_run else labelled(
                bars.before_label, _measured(bars.metric, bars.before))),
            both(lambda: labelled(bars.after_label, _measured(bars.metric, bars.after))),
            both(lambda: _change(bars) if bars.gain else "–")]


def _reference(bars: Bars) -> str:
    if bars.baseline is None:
        return _("no baseline")
    value = _number(bars.metric, bars.baseline)
    return value if bars.is_baseline_confirmed else _("%(value)s (baseline not confirmed)") % {
        "value": value}


def _alone(known: dict[MigratedModel, list[Bars]]) -> Iterator[list]:
    for metric in METRICS:
        codes = [model.code for model, found in known.items()
                 if any(bars.metric == metric and not bars.is_compared for bars in found)]
        if codes:
            yield [both(lambda c=codes: listed(c)), both(lambda m=metric: m.label),
                   both(lambda: _("no baseline")), both(lambda: _("one run only")),
                   both(lambda: _("see the conditions of the figures")), "–"]


def _measured(metric: Metric, found: Measurement) -> str:
    return f"{_number(metric, found.value)} · E{found.artifact_id}"


def _number(metric: Metric, value: float) -> str:
    value = value * 100 if metric.is_share else value
    return f"{value:,.5g} {metric.unit}".replace(" /", "/")


def _change(bars: Bars) -> str:
    """In the metric's own direction: more throughput and less time or memory are better."""
    relative = (bars.after.value - bars.before.value) / abs(bars.before.value)  # of two rounds
    judged = _("better") if bars.gain.is_better else _("worse") if bars.gain.is_worse else _("same")
    return f"{relative:+.1%} · {judged}"


def _unmeasured(known: dict[MigratedModel, list[Bars]]) -> Iterator[list]:
    for name, side in ASKED:
        lacking = [model.code for model, found in known.items() if side in sides_of(model)
                   and name not in [bars.metric.name for bars in found]]
        if lacking:
            yield [both(lambda codes=lacking: listed(codes)),
                   both(lambda n=name: BY_NAME[n].label),
                   *[both(lambda: _("no run measured it"))] * 3, "–"]
