"""Pages of what follows from the answers: readiness, decision, consequences."""

from itertools import groupby

from django.contrib import messages
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from delivery.surveys import services
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences import KINDS, CountedAnswers, Row, compare
from delivery.surveys.consequences.baselines import draft_links
from delivery.surveys.consequences.comparison import CHANGED, GONE
from delivery.surveys.consequences.rules import findings, in_words
from delivery.surveys.forms import DecisionForm
from delivery.surveys.models import Survey
from delivery.surveys.readiness import readiness
from delivery.surveys.views.surveys import survey_of
from engagements.access import Can, allowed, require
from engagements.web.form_actions import attempt, attempt_form
from workers.rules import SEVERITIES

LONG_GROUP = 12  # longer ones, and those without an open row, are folded at first


@require_GET
def consequence_list(request, code):
    """What follows from these answers, against what was taken over before."""
    require(request.user, Can.VIEW_INTERNAL)
    return _page(request, survey_of(request, code), DecisionForm())


def _page(request, survey: Survey, form: DecisionForm):
    sheet = Sheet(survey)
    rows = compare(sheet)
    shown = _filtered(rows, request.GET)
    is_confirmed = survey.state == Survey.State.CONFIRMED
    return render(request, "delivery/surveys/consequences.html", {
        "survey": survey, "engagement": survey.engagement, "active": "survey", "form": form,
        "readiness": readiness(sheet), "groups": _groups(shown), "models": sheet.models,
        "open_rows": [row for row in shown if row.is_open], "hits": _hits(sheet),
        "decisions": survey.decisions.select_related("decided_by"),
        "drafts": draft_links(shown, survey),
        "may_apply": is_confirmed and allowed(request.user, Can.MANAGE)})


def _filtered(rows: list[Row], params) -> list[Row]:
    """Rows of one model, or only those that are not taken over as they stand."""
    chosen, is_open_only = params.get("model", ""), params.get("open") == "yes"
    return [row for row in rows
            if (not chosen or (row.model is not None and row.model.code == chosen))
            and (not is_open_only or row.is_open)]


def _groups(rows: list[Row]) -> list[dict]:
    """Lines by kind, with how many rows are open, and whether the group is unfolded at first."""
    found = {code: list(of_kind) for code, of_kind in groupby(rows, key=lambda row: row.kind)}
    return [{"kind": KINDS[code], "rows": of_kind, "lines": (lines := _lines(of_kind)),
             "open": sum(row.is_open for row in of_kind),
             "is_unfolded": (any(row.is_open for row in of_kind) and len(lines) <= LONG_GROUP)
             or any(row.status in (CHANGED, GONE) for row in of_kind)}
            for code, of_kind in found.items()]


def _lines(rows: list[Row]) -> list[list[Row]]:
    """Rows that change the same thing in the same way, of several models; taken over by the same
    person in the same minute, where they are."""
    found: dict[tuple, list[Row]] = {}
    for row in rows:
        taken = row.applied
        found.setdefault((row.label, row.before, row.after, row.status, *row.because, taken and (
            taken.applied_by_id, taken.applied_at.replace(second=0, microsecond=0))),
                         []).append(row)
    return [*found.values()]


def _hits(sheet: Sheet) -> list[dict]:
    """What the rules say of the answers: each rule once, with the models it concerns."""
    given, found = CountedAnswers(sheet), {}
    for model in given.models:
        if given.value("framework", model):
            for hit in findings(given, model).hits:
                entry = found.setdefault(hit.rule, {"severity": hit.severity, "models": [],
                                                    "sentence": in_words(hit)})
                entry["models"].append(model.code)
    return sorted(found.values(), key=lambda entry: SEVERITIES.index(entry["severity"]))


@require_POST
def apply(request, code):
    """Take over the chosen rows, or all that were shown as open."""
    survey = survey_of(request, code)
    tokens = request.POST.getlist("shown" if "all" in request.POST else "token")
    done = attempt(request, lambda: services.apply_consequences(
        actor=request.user, survey=survey, tokens=tokens), _("Applied."))
    if done and done is not True:
        messages.info(request, ngettext(
            "%(n)d item is recorded in the audit log.",
            "%(n)d items are recorded in the audit log.", len(done)) % {"n": len(done)})
    return redirect("surveys:consequences", code)


@require_POST
def decide(request, code):
    survey, form = survey_of(request, code), DecisionForm(request.POST)
    tokens = request.POST.getlist("shown") if "take_over" in request.POST else ()
    require(request.user, Can.MANAGE, survey.engagement)
    if form.is_valid() and attempt_form(form, lambda: services.decide(
            actor=request.user, survey=survey, tokens=tokens, **form.cleaned_data)):
        return redirect("surveys:consequences", code)
    return _page(request, survey, form)
