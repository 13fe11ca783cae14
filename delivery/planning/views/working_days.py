"""The page of the firm's own calendar."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from delivery.planning.forms.working_days import CalendarDaysForm
from delivery.planning.models import CalendarDay
from delivery.planning.plan.working_days import calendar_years, firm_days
from delivery.planning.services import calendar_days as services
from engagements.access import Can, allowed, require
from engagements.web.form_actions import attempt, attempt_form


@require_http_methods(["GET", "POST"])
def working_days(request):
    """What the working days of each year follow from, and the days of the firm's table."""
    require(request.user, Can.MANAGE if request.method == "POST" else Can.VIEW_INTERNAL)
    form = CalendarDaysForm(request.POST or None)
    if form.is_valid() and attempt_form(form, lambda: services.set_calendar_days(
            actor=request.user, **form.cleaned_data)):
        return redirect("planning:working_days")
    firm = firm_days()
    return render(request, "delivery/planning/working_days.html", {
        "form": form, "days": firm.values(), "may_manage": allowed(request.user, Can.MANAGE),
        "years": calendar_years(timezone.localdate().year, firm)})


@require_POST
def calendar_day_remove(request, pk):
    require(request.user, Can.MANAGE)
    day = get_object_or_404(CalendarDay, pk=pk)
    attempt(request, lambda: services.remove_calendar_day(actor=request.user, day=day),
            _("Removed."))
    return redirect("planning:working_days")
