"""Pages on which the customer's people take part: shared minutes and their own to-dos."""

from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from delivery.planning.models import Meeting, Todo
from delivery.planning.services import minutes
from engagements.web.paging import page_of
from engagements.web.row_pages import MoveRow, visible_engagement

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


minutes_share = MoveRow.as_view(
    model=Meeting, page="planning:meeting", service=minutes.share_minutes, row_name="meeting",
    success=_("Shared with the customer."))
minutes_confirm = MoveRow.as_view(
    model=Meeting, page="planning:meeting", service=minutes.confirm_minutes, row_name="meeting",
    success=_("Confirmed."))
