"""Pages of project control; each view calls one service."""

from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
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
from delivery.planning.models import Meeting, ProjectIssue, Risk, Todo, WeeklyReport
from delivery.planning.services import control as services
from delivery.planning.services import weekly_reports as weekly_services
from delivery.planning.views.common import form_page, internal_engagement, saved
from engagements.access import Can, require
from engagements.moves import allowed_moves
from engagements.web.form_actions import attempt
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


def _back(code: str) -> str:
    return reverse("planning:control", args=[code])


def _worker_engagement(request, code):
    engagement = internal_engagement(request, code)
    require(request.user, Can.WORK, engagement)
    return engagement


def _new(request, code, form_class, service, title):
    """A page that adds a risk, an issue or a to-do."""
    engagement = _worker_engagement(request, code)
    form = form_class(request.POST or None, engagement=engagement)
    if form.is_valid() and saved(form, lambda: service(
            actor=request.user, engagement=engagement, **form.cleaned_data)):
        return redirect(_back(code))
    return form_page(request, form, engagement, title=title, section=_("Project control"),
                     back=_back(code), active="control", submit=_("Save"))


def _edit(request, row, form_class, service):
    """A page that changes a risk or an issue; `service(row, seen, fields)`."""
    require(request.user, Can.WORK, row.engagement)
    code = row.engagement.code
    form = form_class(request.POST or None, instance=row, engagement=row.engagement)
    if form.is_valid():
        seen, fields = form.split_version()
        if saved(form, lambda: service(seen, fields)):
            return redirect(_back(code))
    return form_page(request, form, row.engagement, title=str(row), back=_back(code),
                     section=_("Project control"), active="control", submit=_("Save"))


@require_http_methods(["GET", "POST"])
def risk_new(request, code):
    return _new(request, code, RiskForm, services.add_risk, _("New risk"))


@require_http_methods(["GET", "POST"])
def risk(request, pk):
    row = get_object_or_404(Risk.objects.visible_to(request.user), pk=pk)
    return _edit(request, row, RiskForm, lambda seen, fields: services.update_risk(
        actor=request.user, risk=row, seen=seen, **fields))


@require_http_methods(["GET", "POST"])
def issue_new(request, code):
    return _new(request, code, IssueForm, services.add_issue, _("New outstanding issue"))


@require_http_methods(["GET", "POST"])
def issue(request, pk):
    row = get_object_or_404(ProjectIssue.objects.visible_to(request.user), pk=pk)
    return _edit(request, row, IssueForm, lambda seen, fields: services.update_issue(
        actor=request.user, issue=row, seen=seen, **fields))


@require_http_methods(["GET", "POST"])
def todo_new(request, code):
    return _new(request, code, TodoForm, services.add_todo, _("New to-do"))


@require_POST
def todo_done(request, pk):
    todo = get_object_or_404(Todo.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: services.finish_todo(actor=request.user, todo=todo), _("Done."))
    if request.user.is_reviewer:
        return redirect("planning:cooperation", todo.engagement.code)
    return redirect(_back(todo.engagement.code))


@require_http_methods(["GET", "POST"])
def meeting_new(request, code):
    engagement = _worker_engagement(request, code)
    form = MeetingForm(request.POST or None, request.FILES or None)
    sheet = TodoSheet(request.POST or None, form_kwargs={"engagement": engagement},
                      prefix="todo")
    if request.method == "POST" and form.is_valid() and sheet.is_valid():
        todos = [entry.cleaned_data for entry in sheet if entry.cleaned_data]
        fields = dict(form.cleaned_data)
        uploads = fields.pop("files")
        made = saved(form, lambda: services.record_meeting(
            actor=request.user, engagement=engagement, todos=todos, **fields, attachments=[
                upload_artifact(actor=request.user, engagement=engagement, upload=upload)
                for upload in uploads]))
        if made:
            return redirect("planning:meeting", made.pk)
    return render(request, "delivery/planning/meeting_new.html", {
        "form": form, "sheet": sheet, "engagement": engagement, "active": "control"})


@require_http_methods(["GET", "POST"])
def meeting_edit(request, pk):
    row = get_object_or_404(Meeting.objects.visible_to(request.user).select_related(
        "engagement"), pk=pk)
    require(request.user, Can.WORK, row.engagement)
    form = MeetingForm(request.POST or None, request.FILES or None, instance=row)
    if form.is_valid():
        seen, fields = form.split_version()
        uploads = fields.pop("files")
        if saved(form, lambda: services.update_meeting(
                actor=request.user, meeting=row, seen=seen, **fields, attachments=[
                    upload_artifact(actor=request.user, engagement=row.engagement, upload=upload)
                    for upload in uploads])):
            return redirect("planning:meeting", pk)
    return form_page(request, form, row.engagement, title=str(row), section=_("Project control"),
                     back=reverse("planning:meeting", args=[pk]), active="control",
                     submit=_("Save"))


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
    return redirect("planning:weekly", made.pk) if made else redirect(_back(code))


def _report(request, pk) -> WeeklyReport:
    return get_object_or_404(
        WeeklyReport.objects.visible_to(request.user).select_related("engagement", "written_by"),
        pk=pk)


@require_http_methods(["GET", "POST"])
def weekly(request, pk):
    report = _report(request, pk)
    moves = allowed_moves(request.user, TRANSITIONS, report)
    form = WeeklyForm(request.POST or None, instance=report) if "update" in moves else None
    if form and form.is_valid():
        seen, fields = form.split_version()
        if saved(form, lambda: weekly_services.update_weekly(
                actor=request.user, report=report, seen=seen, **fields)):
            return redirect("planning:weekly", pk)
    return render(request, "delivery/planning/weekly.html", {
        "report": report, "engagement": report.engagement, "active": "control", "form": form,
        "moves": moves, "done": done_lines(report.facts), "problems": problem_lines(report.facts)})


@require_POST
def weekly_refresh(request, pk):
    report = _report(request, pk)
    attempt(request, lambda: weekly_services.refresh_weekly(actor=request.user, report=report),
            _("Recounted."))
    return redirect("planning:weekly", pk)


@require_POST
def weekly_freeze(request, pk):
    report = _report(request, pk)
    attempt(request, lambda: weekly_services.freeze_weekly(actor=request.user, report=report),
            _("Report frozen."))
    return redirect("planning:weekly", pk)
