"""Pages of project control; each view calls one service."""

from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.planning.control.transitions import TRANSITIONS
from delivery.planning.control.weekly_labels import done_lines, problem_lines
from delivery.planning.forms.control import (
    IssueForm,
    MeetingForm,
    RiskForm,
    TodoForm,
    TodoSheet,
    WeekForm,
    WeeklyForm,
)
from delivery.planning.models import Meeting, Risk, Todo, WeeklyReport
from delivery.planning.serializers.change import RejectionSerializer
from delivery.planning.services import control as services
from delivery.planning.services import weekly_reports as weekly_services
from engagements.access import Can, require
from engagements.models import Engagement, User
from engagements.moves import offered_moves
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.row_pages import (
    EditRow,
    MoveRow,
    NewRow,
    form_page,
    internal_engagement,
    visible_row,
)
from workers.services import upload_artifact


@require_GET
def control(request, code):
    engagement = internal_engagement(request, code)
    risks = list(engagement.risks.select_related("owner"))
    todos = engagement.todos.select_related("owner", "meeting__engagement")
    return render(request, "delivery/planning/control.html", {
        "engagement": engagement, "active": "control", "risks": risks,
        "matrix": _matrix(risks), "today": timezone.localdate(),
        "issues": engagement.project_issues.select_related("owner", "model"),
        "todos": todos.filter(done_at=None), "done_count": todos.exclude(done_at=None).count(),
        "meetings": engagement.meetings.select_related("engagement"),
        "reports": engagement.weekly_reports.select_related("engagement"),
        "week_form": WeekForm(initial={"day": timezone.localdate()})})


def _matrix(risks) -> list[dict]:
    """Open risks by probability (rows, high first) and impact (columns)."""
    rows = []
    for level in reversed(Risk.Level):
        cells = [Risk(probability=level, impact=impact) for impact in Risk.Level]
        rows.append({"label": level.label, "cells": [
            {"severity": cell.severity, "risks": [
                r for r in risks if r.state != Risk.State.CLOSED
                and (r.probability, r.impact) == (cell.probability, cell.impact)]}
            for cell in cells]})
    return rows


risk_new = NewRow.as_view(tab="control", form_class=RiskForm, service=services.add_risk,
                          title=_("New risk"))
risk = EditRow.as_view(tab="control", form_class=RiskForm, service=services.update_risk,
                       row_name="risk")
issue_new = NewRow.as_view(tab="control", form_class=IssueForm, service=services.add_issue,
                           title=_("New outstanding issue"))
issue = EditRow.as_view(tab="control", form_class=IssueForm, service=services.update_issue,
                        row_name="issue")
todo_new = NewRow.as_view(tab="control", form_class=TodoForm, service=services.add_todo,
                          title=_("New to-do"))


@require_POST
def todo_done(request, pk):
    todo = get_object_or_404(Todo.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: services.finish_todo(actor=request.user, todo=todo), _("Done."))
    if request.user.is_reviewer:
        return redirect("planning:cooperation", todo.engagement.code)
    return redirect("planning:control", todo.engagement.code)


@require_http_methods(["GET", "POST"])
def meeting_new(request, code):
    engagement = internal_engagement(request, code)
    require(request.user, Can.WORK, engagement)
    form = MeetingForm(request.POST or None, request.FILES or None, of=engagement)
    sheet = TodoSheet(request.POST or None, form_kwargs={"of": engagement}, prefix="todo")
    if request.method == "POST" and form.is_valid() and sheet.is_valid():
        todos = [entry.cleaned_data for entry in sheet if entry.cleaned_data]
        made = attempt_form(form, lambda: services.record_meeting(
            actor=request.user, engagement=engagement, todos=todos,
            **_with_files(request.user, engagement, form.cleaned_data)))
        if made:
            return redirect("planning:meeting", made.pk)
    return render(request, "delivery/planning/meeting_new.html", {
        "form": form, "sheet": sheet, "engagement": engagement, "active": "control"})


@require_http_methods(["GET", "POST"])
def meeting_edit(request, pk):
    row = visible_row(request, Meeting, pk)
    require(request.user, Can.WORK, row.engagement)
    form = MeetingForm(request.POST or None, request.FILES or None, of=row.engagement,
                       instance=row)
    if form.is_valid() and attempt_form(form, lambda: services.update_meeting(
            actor=request.user, meeting=row,
            **_with_files(request.user, row.engagement, form.cleaned_data))):
        return redirect("planning:meeting", pk)
    return form_page(request, form, row.engagement, tab="control", title=str(row),
                     back=reverse("planning:meeting", args=[pk]), submit=_("Save"))


def _with_files(user: User, engagement: Engagement, fields: dict) -> dict:
    """The form's fields, its uploads stored as attachments."""
    uploads = fields.pop("files")
    return {**fields, "attachments": [
        upload_artifact(actor=user, engagement=engagement, upload=upload) for upload in uploads]}


@require_GET
def meeting(request, pk):
    row = get_object_or_404(
        Meeting.objects.visible_to(request.user).select_related("engagement", "recorded_by"),
        pk=pk)
    return render(request, "delivery/planning/meeting.html", {
        "meeting": row, "engagement": row.engagement, "active": "control",
        "todos": row.todos.select_related("owner"), "attachments": row.attachments.order_by("pk")})


@require_POST
def weekly_draft(request, code):
    engagement = internal_engagement(request, code)
    form = WeekForm(request.POST)
    day = form.cleaned_data["day"] if form.is_valid() else timezone.localdate()
    made = attempt(request, lambda: weekly_services.draft_weekly(
        actor=request.user, engagement=engagement, day=day),
                   _("Draft generated from that week's activity."))
    return redirect("planning:weekly", made.pk) if made else redirect("planning:control", code)


@require_http_methods(["GET", "POST"])
def weekly(request, pk):
    report = get_object_or_404(WeeklyReport.objects.visible_to(request.user).select_related(
        "engagement", "written_by"), pk=pk)
    moves = offered_moves(request.user, TRANSITIONS, report)
    form = (WeeklyForm(request.POST or None, of=report.engagement, instance=report)
            if "update" in moves else None)
    if form and form.is_valid() and attempt_form(form, lambda: weekly_services.update_weekly(
            actor=request.user, report=report, **form.cleaned_data)):
        return redirect("planning:weekly", pk)
    return render(request, "delivery/planning/weekly.html", {
        "report": report, "engagement": report.engagement, "active": "control", "form": form,
        "moves": moves, "done": done_lines(report.facts), "problems": problem_lines(report.facts)})


weekly_refresh = MoveRow.as_view(
    model=WeeklyReport, page="planning:weekly", service=weekly_services.refresh_weekly,
    row_name="report", success=_("Recounted."))
weekly_freeze = MoveRow.as_view(
    model=WeeklyReport, page="planning:weekly", service=weekly_services.freeze_weekly,
    row_name="report", success=_("Report frozen."))
weekly_correct = MoveRow.as_view(
    model=WeeklyReport, page="planning:weekly", service=weekly_services.correct_weekly,
    row_name="report", takes=RejectionSerializer, success=_("The next version is a draft."))
