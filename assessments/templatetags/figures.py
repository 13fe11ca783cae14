"""Figures and reasons of assessments as text."""

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from assessments.accuracy.operators import explained
from assessments.labels.environments import item_label
from assessments.models import OperatorRow
from assessments.performance.gains import Metric
from assessments.performance.profiles import StepTime
from assessments.presentation.quantity_labels import point_label, quantity_label
from assessments.presentation.verdict_rows import sheet_label
from engagements.templatetags.display import tag
from toolreaders.verdicts.sentences import in_unit
from workers.labels.number_text import figure_text
from workers.models import StoredReading

register = template.Library()
register.filter(sheet_label)
register.filter(quantity_label)
register.filter(point_label)
register.filter(item_label)
register.filter(in_unit)


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
