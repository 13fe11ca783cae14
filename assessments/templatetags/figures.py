"""Figures and reasons of assessments as text."""

import json
from collections import Counter
from collections.abc import Iterable

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from assessments.accuracy.operators import explained
from assessments.labels.environments import item_label
from assessments.models import OperatorRow, Outcome, Verdict
from assessments.performance.gains import Metric
from assessments.performance.profiles import StepTime
from assessments.presentation.curve_pairs import CurvePair, curve_pair, loss_of_baseline
from assessments.presentation.job_verdicts import WORST_FIRST, job_verdicts, verdict_rows_of
from assessments.presentation.quantity_labels import point_label, quantity_label
from assessments.presentation.verdict_rows import Row, outcome_label, sheet_label
from assessments.queries import latest_verdicts
from engagements.addresses import address
from engagements.models import Engagement
from engagements.templatetags.display import tag
from engagements.text.text_joining import labelled
from toolreaders.verdicts.sentences import in_unit
from workers.labels.line_charts import LineChart
from workers.labels.number_text import figure_text
from workers.logs import progress
from workers.models import Job, StoredReading

register = template.Library()
register.filter(sheet_label)
register.filter(quantity_label)
register.filter(point_label)
register.filter(item_label)
register.filter(in_unit)


@register.filter
def as_printed(value) -> str:
    """A setting as its file prints it: texts bare, true and false in lower case."""
    return value if isinstance(value, str) else json.dumps(value)


@register.simple_tag
def curve_pair_of(job: Job) -> CurvePair | None:
    """The two curves that the page of an ended job shows."""
    return curve_pair(job) if job.is_final else None


@register.simple_tag
def series_of(job: Job) -> list[LineChart]:
    """The series of a job's logs as charts, its loss over the baseline of its model."""
    return progress.series_charts(job, lambda: loss_of_baseline(job.model_id))


@register.simple_tag
def verdict_rows_of_job(job: Job) -> list[Row]:
    """The verdicts that rest on the job's files, the worst first."""
    return verdict_rows_of(job) if job.is_final else []


@register.simple_tag
def verdict_counts(engagement: Engagement) -> SafeString:
    """How many criteria of the current set are passed, failed and so on, each as a tag."""
    counts = Counter(verdict.outcome if verdict else Outcome.NOT_MEASURED
                     for _criterion, verdict in latest_verdicts(engagement))
    page = address("assessments:criteria", engagement.code)
    return format_html_join(" ", '<a href="{}">{}</a>', (
        (page, tag(outcome, f"{outcome_label(outcome)} {counts[outcome]}"))
        for outcome in WORST_FIRST if counts[outcome]))


@register.simple_tag
def verdicts_of_jobs(jobs: Iterable[Job]) -> dict[int, list[Verdict]]:
    """The same for a page of a list, in one query."""
    return job_verdicts(jobs)


@register.simple_tag
def verdict_chip(job: Job, verdicts: dict[int, list[Verdict]]) -> SafeString:
    """The worst verdict of an ended job beside its state; nothing where none rests on it."""
    worst = next(iter(verdicts.get(job.pk, ())), None)
    if worst is None:
        return SafeString("")
    return format_html(
        '<a href="{}">{}</a>', address("assessments:criterion", worst.criterion_id),
        tag(worst.outcome, labelled(_("Verdict"), worst.get_outcome_display())))


@register.filter
def figure(value) -> str:
    """Six significant digits; -- for no figure."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value) if value not in (None, "") else "--"
    return figure_text(value)


@register.filter
def percent(value) -> str:
    """A fraction in per cent with five significant digits; -- for no figure."""
    return f"{figure_text(100 * value, 5)} %" if isinstance(value, (int, float)) else "--"


@register.filter
def points(value) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{value:+.3g} pp"


@register.filter
def measured(value, metric: Metric) -> str:
    """A value of a metric; shares in per cent."""
    return percent(value) if metric.is_share else figure(value)


@register.filter
def share(step: StepTime, part: str) -> str:
    """The share of a part of the step time."""
    return percent(step.share(part))


@register.filter
def kind_label(reading: StoredReading) -> str:
    """What kind of file a reading on accuracy is."""
    labels = {"accuracy_compare": _("Operator comparison"),
              "config_check": _("Configuration check"), "overflow": _("Overflow")}
    return labels.get(reading.kind, reading.kind)


@register.filter
def explain(row: OperatorRow) -> str:
    """Why the row deviates, in one sentence."""
    return explained(row)


@register.simple_tag
def deviation(row: OperatorRow) -> SafeString:
    """The reason as a tag, or nothing for a row that agrees."""
    return tag("failed", row.get_reason_display()) if row.reason else SafeString("")
