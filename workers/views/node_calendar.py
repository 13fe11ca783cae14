"""The calendar of nodes: maintenance windows, reservations, and quotas of engagements."""

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from engagements.access import Can, allowed, require
from engagements.models import Engagement
from engagements.web.form_actions import attempt, attempt_form
from toolreaders.number_parsing import whole_number
from workers.forms.node_calendar import QuotaForm, ReservationForm
from workers.labels.card_timeline import reservation_timeline
from workers.models import CardQuota, NodeReservation
from workers.services import node_calendar


@require_http_methods(["GET", "POST"])
def calendar(request):
    """What is reserved from now on; for operators with the forms to add to it."""
    require(request.user, Can.VIEW_INTERNAL)
    form = ReservationForm(request.POST or None, user=request.user,
                           initial={"node": request.GET.get("node")})
    if request.method == "POST":
        require(request.user, Can.OPERATE)
    if form.is_valid() and attempt_form(form, lambda: node_calendar.reserve(
            actor=request.user, **form.cleaned_data)):
        return redirect("workers:calendar")
    now = timezone.now()
    reservations = node_calendar.reservations_ahead(request.user, now)
    return render(request, "workers/calendar.html", {
        "form": form, "quota_form": QuotaForm(user=request.user),
        "may_operate": allowed(request.user, Can.OPERATE),
        "reservations": reservations, "timeline": reservation_timeline(reservations, now),
        "quotas": CardQuota.objects.visible_to(request.user).select_related("engagement")})


@require_POST
def reservation_end(request, pk):
    found = get_object_or_404(NodeReservation.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: node_calendar.end_reservation(
        actor=request.user, reservation=found), _("Reservation cancelled; "
                                                  "waiting jobs may start."))
    return redirect("workers:calendar")


@require_POST
def quota_set(request):
    """Of an engagement that the user sees; another is answered as one that does not exist."""
    require(request.user, Can.OPERATE)
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user),
                                   pk=whole_number(request.POST.get("engagement")))
    form = QuotaForm(request.POST, user=request.user)
    if form.is_valid():
        attempt(request, lambda: node_calendar.set_quota(
            actor=request.user, engagement=engagement, cards=form.cleaned_data["cards"]),
            _("Saved."))
    else:
        messages.error(request, " ".join(form.errors.get("cards", [])))
    return redirect("workers:calendar")
