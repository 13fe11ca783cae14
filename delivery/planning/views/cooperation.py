"""Pages on which the customer's people take part: shared minutes and their own to-dos."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from delivery.planning.models import Meeting, Todo
from delivery.planning.services import minutes
from delivery.planning.views.common import visible_engagement
from engagements.web.form_actions import attempt
from engagements.web.paging import page_of

AT_ONCE = 50


@require_GET
def cooperation(request, code):
    engagement = visible_engagement(request, code)
    meetings = Meeting.objects.visible_to(request.user).filter(
        engagement=engagement).exclude(shared_at=None).select_related("confirmed_by")
    todos = Todo.objects.visible_to(request.user).filter(
        engagement=engagement, owner=request.user).select_related("meeting", "owner")
    return render(request, "delivery/planning/cooperation.html", {
        "engagement": engagement, "active": "cooperation",
        "page": page_of(meetings, request.GET, AT_ONCE), "todos": todos[:AT_ONCE]})


@require_POST
def minutes_share(request, pk):
    row = _meeting(request, pk)
    attempt(request, lambda: minutes.share_minutes(actor=request.user, meeting=row),
            _("Shared with the customer."))
    return redirect("planning:meeting", pk)


@require_POST
def minutes_confirm(request, pk):
    row = _meeting(request, pk)
    attempt(request, lambda: minutes.confirm_minutes(actor=request.user, meeting=row),
            _("Confirmed."))
    return redirect("planning:meeting", pk)


def _meeting(request, pk: int) -> Meeting:
    return get_object_or_404(Meeting.objects.visible_to(request.user).select_related(
        "engagement"), pk=pk)
