"""Pages of timesheets, of both sides; each view calls one service."""

import re
from datetime import date

from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.planning.forms.effort import CorrectionForm
from delivery.planning.models import TimeEntry, Timesheet
from delivery.planning.queries import open_months
from delivery.planning.serializers.change import RejectionSerializer
from delivery.planning.services import time_entries as time_services
from delivery.planning.services import timesheets as services
from delivery.planning.time.timesheet_labels import presented
from delivery.planning.time.transitions import TRANSITIONS
from engagements.access import Can, allowed, require
from engagements.moves import offered_moves
from engagements.web.form_actions import attempt, attempt_form, state_reached
from engagements.web.row_pages import (
    MoveRow,
    form_page,
    internal_engagement,
    posted,
    visible_engagement,
)


@require_GET
def timesheets(request, code):
    engagement = visible_engagement(request, code)
    rows = Timesheet.objects.visible_to(request.user).filter(
        engagement=engagement).select_related("engagement", "confirmed_by", "answered_by")
    may_confirm = allowed(request.user, Can.MANAGE)
    return render(request, "delivery/planning/timesheets.html", {
        "engagement": engagement, "active": "time", "timesheets": rows,
        "months": open_months(engagement) if may_confirm else []})


@require_POST
def timesheet_submit(request, code):
    engagement = internal_engagement(request, code)
    month = re.fullmatch(r"(2[0-9]{3})-(0[1-9]|1[0-2])", request.POST.get("month", ""))
    if month is None:
        raise Http404
    made = attempt(request, lambda: services.confirm_month(
        actor=request.user, engagement=engagement, month=date(int(month[1]), int(month[2]), 1)),
                   _("Confirmed for the firm; awaiting the customer's response."))
    return redirect("planning:timesheet", made.pk) if made else redirect(
        "planning:timesheets", code)


def _timesheet(request, pk) -> Timesheet:
    return get_object_or_404(Timesheet.objects.visible_to(request.user).select_related(
        "engagement", "confirmed_by", "answered_by"), pk=pk)


@require_GET
def timesheet(request, pk):
    sheet = _timesheet(request, pk)
    return render(request, "delivery/planning/timesheet.html", {
        "timesheet": sheet, "engagement": sheet.engagement, "active": "time",
        "facts": presented(sheet.facts),
        "moves": offered_moves(request.user, TRANSITIONS, sheet)})


@require_POST
def timesheet_answer(request, pk, answer):
    sheet = _timesheet(request, pk)
    attempt(request, lambda: services.answer_timesheet(
        actor=request.user, timesheet=sheet, is_confirmed=answer == "confirm",
        **posted(request, RejectionSerializer)), lambda: state_reached(sheet))
    return redirect("planning:timesheet", pk)


timesheet_withdraw = MoveRow.as_view(
    model=Timesheet, page="planning:timesheet", service=services.withdraw_timesheet,
    row_name="timesheet", takes=RejectionSerializer,
    success=_("Withdrawn; its time can be corrected and resubmitted to the customer."))


@require_http_methods(["GET", "POST"])
def time_correct(request, pk):
    entry = get_object_or_404(TimeEntry.objects.visible_to(request.user).select_related(
        "engagement", "person", "timesheet__engagement"), pk=pk)
    require(request.user, Can.WORK, entry.engagement)
    form = CorrectionForm(request.POST or None, of=entry.engagement, instance=entry)
    if form.is_valid() and attempt_form(form, lambda: time_services.correct_time(
            actor=request.user, entry=entry, **form.cleaned_data)):
        return redirect("planning:time", entry.engagement.code)
    return form_page(request, form, entry.engagement, tab="time", title=str(entry),
                     submit=_("Correct"))
