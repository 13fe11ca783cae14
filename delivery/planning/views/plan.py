"""Pages of plans; each view calls one service."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.agreement.queries import agreement_of
from delivery.documents.views.file_answers import answer_file
from delivery.planning.document_files import planning_file
from delivery.planning.forms.plan import (
    LinkForm,
    MilestoneSheet,
    PlannedVersionsForm,
    StartForm,
    TaskForm,
)
from delivery.planning.models import Dependency, Milestone, Plan, PlanBaseline, Task
from delivery.planning.plan.gantt import chart
from delivery.planning.plan.task_dates import end_of, schedule, working_days_of
from delivery.planning.plan.trigger_documents import trigger_documents
from delivery.planning.plan.working_days import firm_days, provisional_years
from delivery.planning.serializers.plan import PlanBaselineSerializer
from delivery.planning.services import plans as services
from delivery.planning.services.planned_versions import set_planned_versions
from engagements.access import Can, require
from engagements.assignment_remarks import show_remarks
from engagements.web.form_actions import XLSX, attempt, attempt_form, show_errors
from engagements.web.row_pages import form_page, posted, visible_engagement

TASKS_A_PAGE = 100


@require_http_methods(["GET", "POST"])
def plan(request, code):
    engagement = visible_engagement(request, code)
    found = Plan.objects.filter(engagement=engagement).first()
    if found is None:
        return _start(request, engagement)
    rows = schedule(found)
    page = Paginator(rows, TASKS_A_PAGE).get_page(request.GET.get("page"))
    baseline = found.baselines.select_related("taken_by").defer("tasks").first()
    return render(request, "delivery/planning/plan.html", {
        "engagement": engagement, "active": "plan", "plan": found, "baseline": baseline,
        "chart": chart(rows, timezone.localdate(), list(page), engagement.ends_on),
        "page": page, "end": end_of(rows), "today": timezone.localdate(),
        "length": working_days_of(rows), "milestones": _milestones(found, rows),
        "provisional": provisional_years(
            found.starts_on, end_of(rows) or found.starts_on, firm_days())})


def _start(request, engagement):
    form = StartForm(request.POST or None, initial={
        "starts_on": engagement.starts_on or timezone.localdate()})
    if form.is_valid() and attempt_form(form, lambda: services.draft_plan(
            actor=request.user, engagement=engagement, **form.cleaned_data)):
        return redirect("planning:plan", engagement.code)
    return render(request, "delivery/planning/plan_start.html", {
        "engagement": engagement, "active": "plan", "form": form})


def _milestones(found: Plan, rows) -> list[dict]:
    """Milestones with the date of their task and the trigger document, where it exists."""
    finish = {row.task.pk: row.finish for row in rows}
    documents = trigger_documents([found.engagement_id])[found.engagement_id]
    return [{"milestone": milestone, "date": finish.get(milestone.task_id),
             "document": documents.get(milestone.trigger)}
            for milestone in found.milestones.all()]


def _plan(request, code) -> Plan:
    """The plan for its managers; others 403, strangers 404."""
    engagement = visible_engagement(request, code)
    require(request.user, Can.MANAGE, engagement)
    return get_object_or_404(Plan, engagement=engagement)


def _task(request, pk) -> Task:
    task = get_object_or_404(
        Task.objects.visible_to(request.user).select_related("plan__engagement", "model"), pk=pk)
    require(request.user, Can.MANAGE, task.plan.engagement)
    return task


@require_GET
def plan_file(request, code):
    from delivery.planning.plan.plan_xlsx import plan_xlsx  # openpyxl: not at start

    found = get_object_or_404(Plan, engagement=visible_engagement(request, code))
    return HttpResponse(plan_xlsx(found), content_type=XLSX, headers={
        "Content-Disposition": f'attachment; filename="{code}-plan.xlsx"'})


@require_GET
def baseline_file(request, pk, language):
    baseline = get_object_or_404(
        PlanBaseline.objects.visible_to(request.user).select_related("plan__engagement"), pk=pk)
    return answer_file(
        request, lambda: planning_file(baseline, language), target=baseline,
        name=f"{baseline.file_name}-{language}.xlsx",
        page=reverse("planning:plan", args=[baseline.engagement.code]))


@require_POST
def plan_baseline(request, code):
    found = _plan(request, code)
    attempt(request, lambda: services.take_baseline(
        actor=request.user, plan=found, **posted(request, PlanBaselineSerializer)),
            _("Baseline saved."))
    return redirect("planning:plan", code)


@require_http_methods(["GET", "POST"])
def task_new(request, code):
    found = _plan(request, code)
    form = TaskForm(request.POST or None, of=found)
    if form.is_valid() and attempt_form(form, lambda: services.add_task(
            actor=request.user, plan=found, **form.cleaned_data)):
        show_remarks(request, form.cleaned_data["owner"])
        return redirect("planning:plan", code)
    return form_page(request, form, found.engagement, tab="plan", title=_("New task"),
                     submit=_("Add"))


@require_http_methods(["GET", "POST"])
def task(request, pk):
    found = _task(request, pk)
    code = found.plan.engagement.code
    form = TaskForm(request.POST or None, instance=found, of=found.plan)
    if form.is_valid() and attempt_form(form, lambda: services.update_task(
            actor=request.user, task=found, **form.cleaned_data)):
        if "owner" in form.changed_data:
            show_remarks(request, form.cleaned_data["owner"])
        return redirect("planning:plan", code)
    return render(request, "delivery/planning/task.html", {
        "form": form, "link_form": LinkForm(of=found), "task": found, "active": "plan",
        "engagement": found.plan.engagement, "submit_label": _("Save"),
        "cancel_url": reverse("planning:plan", args=[code]),
        "links": found.precursors.select_related("before__model")})


@require_POST
def task_link(request, pk):
    found = _task(request, pk)
    form = LinkForm(request.POST, of=found)
    if form.is_valid():
        attempt(request, lambda: services.link_tasks(
            actor=request.user, after=found, **form.cleaned_data), _("Saved."))
    else:
        show_errors(request, form)
    return redirect("planning:task", pk)


@require_POST
def task_unlink(request, pk, link):
    found = get_object_or_404(Dependency, pk=link, after=_task(request, pk))
    attempt(request, lambda: services.unlink_tasks(actor=request.user, link=found),
            _("Removed."))
    return redirect("planning:task", pk)


@require_POST
def task_remove(request, pk):
    found = _task(request, pk)
    attempt(request, lambda: services.remove_task(actor=request.user, task=found), _("Removed."))
    return redirect("planning:plan", found.plan.engagement.code)


@require_http_methods(["GET", "POST"])
def milestones(request, code):
    found = _plan(request, code)
    sheet = MilestoneSheet(request.POST or None, form_kwargs={"of": found},
                           initial=_sheet(found) if request.method == "GET" else None)
    if sheet.is_valid() and attempt(request, lambda: services.set_milestones(
            actor=request.user, plan=found, rows=_rows(sheet)), _("Saved.")):
        return redirect("planning:plan", code)
    return render(request, "delivery/planning/milestones.html", {
        "sheet": sheet, "engagement": found.engagement, "active": "plan"})


@require_http_methods(["GET", "POST"])
def planned_versions(request, code):
    """What the parties plan to run on, held against what is measured in reports."""
    engagement = visible_engagement(request, code)
    require(request.user, Can.WORK, engagement)
    form = PlannedVersionsForm(
        request.POST or None,
        initial=dict(engagement.planned_versions.values_list("item", "value")))
    if form.is_valid() and attempt_form(form, lambda: set_planned_versions(
            actor=request.user, engagement=engagement, versions=form.cleaned_data)):
        return redirect("planning:plan", code)
    return form_page(request, form, engagement, tab="plan", title=_("Planned environment"),
                     submit=_("Save"))


def _sheet(found: Plan) -> list[dict]:
    """The milestones as they are; at first the agreed payments: the first follows the contract,
    the last the acceptance."""
    rows = list(found.milestones.values("name", "name_en", "percent", "trigger", "task"))
    if rows:
        return rows
    terms = agreement_of(found.engagement).value("payments") or ()
    last, trigger = len(terms) - 1, Milestone.Trigger
    return [{"name": term["name"]["zh-hans"], "name_en": term["name"]["en"],
             "percent": term["percent"], "trigger": trigger.CONTRACT if n == 0
             else trigger.ACCEPTANCE if n == last else trigger.PRELIMINARY}
            for n, term in enumerate(terms)]


def _rows(sheet) -> list[dict]:
    return [{k: v for k, v in form.cleaned_data.items() if k != "DELETE"} for form in sheet
            if form.cleaned_data and not form.cleaned_data.get("DELETE")]
