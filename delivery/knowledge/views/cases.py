"""Pages of solved cases; each view calls one service."""

from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from assessments.models import Verdict
from delivery.knowledge import prefill, queries
from delivery.knowledge.forms import CaseForm, NewCaseForm, RetireForm, diagnosis_choices
from delivery.knowledge.models import CaseEvidence, SolvedCase
from delivery.knowledge.services import cases as services
from delivery.planning.models import ProjectIssue
from engagements.access import Can, allowed, require
from engagements.search_index import pages_of
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of
from toolreaders.number_parsing import whole_number
from workers import kinds
from workers.models import Job

PER_PAGE = 30
# What a case may be made of, by the name in the page's address.
SOURCES = {"job": (Job, prefill.from_job), "issue": (ProjectIssue, prefill.from_issue),
           "verdict": (Verdict, prefill.from_verdict)}


def _cases(request: HttpRequest):
    """The cases that the user sees; 404 for customers, who know of none."""
    if not allowed(request.user, Can.VIEW_INTERNAL):
        raise Http404
    return SolvedCase.objects.visible_to(request.user)


def _case(request: HttpRequest, pk: int) -> SolvedCase:
    return get_object_or_404(_cases(request).noted(), pk=pk)


@require_GET
def case_list(request):
    """All cases, or those whose signature a job shows (`?job=`)."""
    rows, job = _cases(request).noted(), None
    if "job" in request.GET:
        job = get_object_or_404(Job.objects.visible_to(request.user),
                                pk=whole_number(request.GET["job"]) or 0)
        rows = rows.filter(pk__in=[match.case.pk for match in
                                   queries.matches_of(job, request.user)])
    rows = queries.filtered_cases(rows, request.GET)
    return render(request, "delivery/knowledge/cases.html", {
        "page": page_of(rows, request.GET, PER_PAGE, pages_of(request.GET)), "job": job,
        "kinds": kinds.all_kinds(), "diagnoses": diagnosis_choices()[1:]})


@require_GET
def case_page(request, pk):
    case = _case(request, pk)
    evidence = CaseEvidence.objects.visible_to(request.user).filter(case=case).select_related(
        "engagement", "job", "issue__engagement", "verdict__criterion__definition",
        "verdict__criterion__model", "added_by")
    return render(request, "delivery/knowledge/case.html", {
        "case": case, "evidence": evidence, "hidden": case.evidence.count() - len(evidence),
        "may_approve": services.may_approve(request.user, case),
        "is_own": SolvedCase.objects.own_of(request.user).filter(pk=pk).exists(),
        "retire_form": RetireForm()})


def _source(request: HttpRequest) -> tuple[str, Any, dict[str, Any]]:
    """What the case is made of: its name in the address, the row, the form's first values."""
    for name, (table, draft) in SOURCES.items():
        if name in request.GET:
            row = get_object_or_404(table.objects.visible_to(request.user),
                                    pk=whole_number(request.GET[name]) or 0)
            return name, row, draft(row)
    raise Http404


@require_http_methods(["GET", "POST"])
def case_new(request):
    """A form for a case of a failed job, a closed issue or a failed verdict, pre-filled."""
    _cases(request)
    require(request.user, Can.WORK)
    name, row, initial = _source(request)
    form = NewCaseForm(request.POST or None, initial=initial, user=request.user,
                       problem=row if name == "job" else None)
    if form.is_valid() and (case := attempt_form(form, lambda: services.add_case(
            actor=request.user, **{name: row}, **form.cleaned_data))):
        return redirect("knowledge:case", case.pk)
    return render(request, "delivery/knowledge/case_form.html", {
        "form": form, "title": _("Record a solved case"), "source": name, "row": row,
        "cancel_url": _page_of(name, row), "submit_label": _("Save")})


def _page_of(name: str, row: Any) -> str:
    if name == "job":
        return reverse("workers:job", args=[row.pk])
    if name == "issue":
        return reverse("planning:control", args=[row.engagement.code])
    return reverse("assessments:criterion", args=[row.criterion_id])


@require_http_methods(["GET", "POST"])
def case_edit(request, pk):
    case = _case(request, pk)
    require(request.user, Can.WORK)
    form = CaseForm(request.POST or None, instance=case)
    if form.is_valid() and attempt_form(form, lambda: services.update_case(
            actor=request.user, case=case, **form.cleaned_data)):
        return redirect("knowledge:case", pk)
    return render(request, "delivery/knowledge/case_form.html", {
        "form": form, "title": str(case), "submit_label": _("Save"),
        "cancel_url": reverse("knowledge:case", args=[pk])})


@require_POST
def case_approve(request, pk):
    """The text is approved as the page showed it (`seen`)."""
    case = _case(request, pk)
    attempt(request, lambda: services.approve_case(
        actor=request.user, case=case, seen=whole_number(request.POST.get("seen")) or 0),
            _("The text is approved: the case is shared with all engagements."))
    return redirect("knowledge:case", pk)


@require_POST
def case_retire(request, pk):
    case, form = _case(request, pk), RetireForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    attempt(request, lambda: services.retire_case(actor=request.user, case=case, reason=reason),
            _("The case is retired: it is no longer suggested."), undo=lambda made: (
                "case.retire", {"case": made.pk, "seen": made.lock_version}))
    return redirect("knowledge:case", pk)


@require_POST
def case_restore(request, pk):
    case = _case(request, pk)
    attempt(request, lambda: services.restore_case(actor=request.user, case=case),
            _("The case is in force again."), undo=lambda made: ("case.restore", {
                "case": made.pk, "seen": made.lock_version, "reason": case.retired_reason}))
    return redirect("knowledge:case", pk)


@require_POST
def case_evidence(request, pk):
    """The job of the form is noted with the case."""
    case = _case(request, pk)
    job = get_object_or_404(Job.objects.visible_to(request.user),
                            pk=whole_number(request.POST.get("job")) or 0)
    attempt(request, lambda: services.add_evidence(actor=request.user, case=case, job=job),
            _("Job %(job)s is recorded as evidence of the case.") % {"job": job.pk})
    return redirect("knowledge:case", pk)
