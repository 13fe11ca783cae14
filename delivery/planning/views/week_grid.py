"""One's own week of time as a grid."""

from datetime import timedelta

from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from delivery.planning.plan.working_days import monday_of
from delivery.planning.services import week_time
from delivery.planning.time.week_grid import choices, grid
from engagements.access import Can, require
from engagements.web.form_actions import attempt


@require_http_methods(["GET", "POST"])
def week(request):
    """Seven days of two half-days each; what is on a timesheet cannot be changed."""
    require(request.user, Can.WORK)
    monday, today = _monday(request), timezone.localdate()
    if request.method == "POST":
        attempt(request, lambda: week_time.save_week(
            actor=request.user, monday=monday, cells=request.POST), _("Week saved."))
        return _back(monday)
    return render(request, "delivery/planning/week_grid.html", {
        "grid": grid(request.user, monday, today), "choices": choices(request.user, today),
        "before": monday - timedelta(days=7), "after": monday + timedelta(days=7)})


@require_POST
def week_copy(request):
    require(request.user, Can.WORK)
    monday, copied = _monday(request), []
    attempt(request, lambda: copied.append(week_time.copy_week(
        actor=request.user, monday=monday)), lambda: ngettext(
        "%(n)d half-day copied from last week.", "%(n)d half-days copied from last week.",
        copied[0]) % {"n": copied[0]})
    return _back(monday)


def _monday(request):
    try:
        day = parse_date(request.GET.get("from", "") or request.POST.get("from", ""))
    except ValueError:
        day = None
    return monday_of(day or timezone.localdate())


def _back(monday):
    return redirect(f"{reverse('planning:week')}?from={monday.isoformat()}")
