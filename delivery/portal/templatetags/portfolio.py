"""Cells and headings of the portfolio's table."""

from collections.abc import Callable
from typing import Any

from django import template
from django.template.defaultfilters import floatformat
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.portal.portfolio.columns import Column, exchange_rates
from delivery.portal.portfolio.rows import PortfolioRow
from engagements.addresses import address
from engagements.templatetags.display import colour, dash, known, practice, state_tag, tag

register = template.Library()
BAD = f"text-{colour('failed')}"
CLASSES = {"name": "desk-portfolio-name", "next_gate": "desk-portfolio-gate"}
NUMBER = "text-end text-nowrap"


@register.simple_tag
def portfolio_cell(row: PortfolioRow, column: Column) -> SafeString:
    """One cell; made without a template, since a page has hundreds of them."""
    if column.code in CELLS:
        content = CELLS[column.code](row)
    else:
        value = column.value(row)
        is_figure = column.is_number and value is not None
        content = floatformat(value, "-1") if is_figure else dash(value)
    classes = CLASSES.get(column.code, NUMBER if column.is_number else "")
    return format_html("<td{}>{}</td>", _class(classes), content)


def _class(names: str) -> SafeString:
    return format_html(' class="{}"', names) if names else mark_safe("")


def _link(content: Any, route: str, *arguments: str | int, classes: str = "") -> SafeString:
    return format_html('<a{} href="{}">{}</a>', _class(classes), address(route, *arguments),
                       content)


def _code(row: PortfolioRow) -> SafeString:
    return _link(row.engagement.code, "engagements:engagement", row.engagement.code)


def _name(row: PortfolioRow) -> SafeString:
    engagement = row.engagement
    return format_html(
        '{} {}<div class="text-secondary">{}</div>',
        _link(engagement.localized_name, "engagements:engagement", engagement.code),
        practice(engagement.has_practice_data), engagement.customer.localized_name)


def _progress(row: PortfolioRow) -> SafeString:
    return format_html(
        '<span class="text-nowrap"><progress class="progress progress-sm d-inline-block" '
        'style="width:3.5rem" max="{}" value="{}" aria-label="{}"></progress> {}/{}</span>',
        row.stages_in_scope or 1, row.stages_passed, _("Stages passed"), row.stages_passed,
        row.stages_in_scope)


def _next_gate(row: PortfolioRow) -> SafeString | str:
    """With what the customer has signed last: a rejection is no gate that is merely open."""
    outcome = row.outcome and tag(row.outcome.decision, row.outcome.get_decision_display())
    if not row.next_gate:
        return outcome or dash("")
    models = ngettext("%(n)d model", "%(n)d models", row.next_gate_models)
    return format_html('{} <span class="text-secondary text-nowrap">{}</span> {}', row.next_gate,
                       models % {"n": row.next_gate_models}, outcome or "")


def _decision(row: PortfolioRow) -> SafeString | str:
    return tag(row.outcome.decision, row.outcome_label) if row.outcome else dash("")


def _due(row: PortfolioRow) -> SafeString:
    day = row.engagement.ends_on.isoformat() if row.engagement.ends_on else ""
    if not row.days_late:
        return format_html('<span class="text-nowrap">{}</span>', dash(day))
    late = ngettext("%(n)d day late", "%(n)d days late", row.days_late) % {"n": row.days_late}
    return format_html('<span class="text-nowrap">{}<br>{}</span>', day, tag("late", late))


def _quoted(row: PortfolioRow) -> SafeString | str:
    amount = row.effort.quoted_amount
    if row.effort.agreement is None:
        return dash("")
    return format_html('{}<div class="text-secondary text-nowrap">{}</div>', _link(
        dash("") if amount is None else f"{amount:,.2f}", "agreement:agreement",
        row.engagement.code), exchange_rates(row))


def _days(row: PortfolioRow) -> SafeString:
    used, quoted = row.effort.days_used, row.effort.days_quoted
    return _link(f"{floatformat(used, '-1')} / {floatformat(quoted, '-1') if quoted else dash('')}",
                 "planning:time", row.engagement.code,
                 classes=BAD if row.is_over_budget else "")


def _margin(row: PortfolioRow) -> SafeString | str:
    percent = row.margin.get("percent")
    if percent is None:  # the page says which grade has no cost, and where it is entered
        return _link(known(None), "planning:time", row.engagement.code)
    title = _("actual") if row.margin["is_actual"] else _("expected")
    return _link(format_html("{}%<div>{}</div>", floatformat(percent, 1), title), "planning:time",
                 row.engagement.code, classes=BAD if percent < 0 else "")


def _risks(row: PortfolioRow) -> SafeString | str:
    count = row.open_risks
    return _link(count, "planning:control", row.engagement.code) if count else "0"


def _failing(row: PortfolioRow) -> SafeString | str:
    count = row.failing_criteria
    return _link(format_html("<strong>{}</strong>", count), "assessments:criteria",
                 row.engagement.code, classes=BAD) if count else "0"


CELLS: dict[str, Callable[[PortfolioRow], SafeString | str]] = {
    "code": _code, "name": _name, "state": lambda row: state_tag(row.engagement),
    "progress": _progress, "next_gate": _next_gate, "due": _due, "quoted": _quoted, "days": _days,
    "margin": _margin, "risks": _risks, "failing": _failing, "decision": _decision}


@register.simple_tag
def figure_of(figures: dict, column: Column) -> SafeString | str:
    """A sum or an average of a column; nothing where it says nothing."""
    value = figures.get(column.code)
    if value is None:
        return ""
    return f"{value:,.2f}" if column.code == "quoted" else f"{value:,.1f}".removesuffix(".0")


@register.simple_tag
def sort_link(request, column) -> str:
    """The address that sorts by the column; once more the other way round."""
    query = request.GET.copy()
    query.pop("page", None)
    query["sort"] = (f"-{column.sort_key}" if query.get("sort") == column.sort_key
                     else column.sort_key)
    return f"?{query.urlencode()}"


@register.simple_tag
def sort_state(request, column) -> str:
    """The value of `aria-sort`."""
    asked = request.GET.get("sort", "")
    if asked.removeprefix("-") != column.sort_key:
        return "none"
    return "descending" if asked.startswith("-") else "ascending"
