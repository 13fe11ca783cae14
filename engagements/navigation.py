"""The tabs of an engagement: six groups, each with its pages, declared once.

Routes are names of URL patterns; those of higher packages are known by name only. What a page
shows is decided by its own view; `internal` only keeps its tab from the customer.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


@dataclass(frozen=True)
class Tab:
    """One page of an engagement. `is_query`: the engagement is named by `?engagement=`."""

    key: str
    title: Promise
    route: str
    is_internal: bool = False
    is_external: bool = False
    is_query: bool = False

    def is_for(self, is_internal: bool) -> bool:
        """Whether somebody of the firm (or of the customer) has this tab."""
        return not self.is_external if is_internal else not self.is_internal


@dataclass(frozen=True)
class Group:
    title: Promise
    tabs: tuple[Tab, ...]

    def tabs_for(self, is_internal: bool) -> list[Tab]:
        return [tab for tab in self.tabs if tab.is_for(is_internal)]


_SURVEY = pgettext_lazy("a tab", "Survey")

GROUPS = (
    Group(_("Overview"), (Tab("overview", _("Overview"), "engagements:engagement"),)),
    Group(_SURVEY, (Tab("survey", _SURVEY, "surveys:overview"),)),
    Group(_("Implementation"), (
        Tab("jobs", _("Jobs"), "workers:jobs", is_internal=True, is_query=True),
        Tab("plan", _("Plan"), "planning:plan"))),
    Group(_("Validation"), (
        Tab("criteria", _("Criteria and verdicts"), "assessments:criteria"),
        Tab("accuracy", _("Accuracy"), "assessments:accuracy"),
        Tab("performance", _("Performance"), "assessments:performance"),
        Tab("documents", _("Documents"), "reports:engagement"))),
    Group(_("Commercial"), (
        Tab("quotes", _("Quotes"), "quotes:engagement"),
        Tab("agreement", pgettext_lazy("contract", "Agreement"), "agreement:agreement"),
        Tab("changes", _("Changes"), "planning:changes"),
        Tab("effort", _("Effort"), "planning:effort", is_internal=True),
        Tab("time", _("Timesheets"), "planning:time", is_internal=True),
        Tab("time", _("Timesheets"), "planning:timesheets", is_external=True))),
    Group(_("Management"), (
        Tab("control", _("Project control"), "planning:control", is_internal=True),
        Tab("cooperation", _("Collaboration"), "planning:cooperation", is_external=True),
        Tab("agents", _("Agents"), "workers:agents"),
        Tab("team", _("Team"), "engagements:team", is_internal=True))),
)

# The tab of a page whose view names none, by the first part of its route's name.
TAB_OF_NAMESPACE = {
    "engagements": "overview", "surveys": "survey", "workers": "jobs", "assessments": "criteria",
    "reports": "documents", "acceptance": "documents", "evidence": "documents",
    "quotes": "quotes", "agreement": "agreement", "planning": "plan",
}


def tab_of(key: str) -> Tab:
    """The tab of that key; for both sides the firm's."""
    return next(tab for group in GROUPS for tab in group.tabs if tab.key == key)


def groups_for(is_internal: bool) -> Iterator[tuple[Group, list[Tab]]]:
    """The groups that have a tab for the reader, with these tabs."""
    for group in GROUPS:
        if tabs := group.tabs_for(is_internal):
            yield group, tabs
