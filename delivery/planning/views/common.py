"""What the pages of this app share."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from engagements.access import Can, require
from engagements.models import Engagement
from engagements.web.form_actions import XLSX, attempt_form


def visible_engagement(request: HttpRequest, code: str) -> Engagement:
    """The engagement of that code, or 404 for a stranger."""
    return get_object_or_404(
        Engagement.objects.visible_to(request.user).select_related("customer"), code=code)


def internal_engagement(request: HttpRequest, code: str) -> Engagement:
    """The same for the firm's people; 403 for the customer's."""
    engagement = visible_engagement(request, code)
    require(request.user, Can.VIEW_INTERNAL, engagement)
    return engagement


def saved(form, service: Callable[[], Any]) -> Any:
    """`attempt_form` of a service that may return nothing."""
    return attempt_form(form, lambda: service() or True)


def form_page(request: HttpRequest, form, engagement: Engagement, *, title: str, section: str,
              back: str, active: str, submit: str) -> HttpResponse:
    """A form on a page of its own, under the engagement's tabs."""
    return render(request, "delivery/planning/form.html", {
        "form": form, "engagement": engagement, "title": title, "section": section,
        "cancel_url": back, "active": active, "submit_label": submit})


def workbook(data: bytes, name: str) -> HttpResponse:
    return HttpResponse(data, content_type=XLSX, headers={
        "Content-Disposition": f'attachment; filename="{name}"'})
