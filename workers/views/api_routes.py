"""The page of a model's unsupported and unknown APIs and their routes."""

from datetime import date

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from engagements.access import Can, allowed
from engagements.errors import InvalidInput
from engagements.models import MigratedModel
from engagements.web.form_actions import attempt
from workers.models import ApiRoute
from workers.services.api_routes import record_routes
from workers.unresolved_apis import found_apis


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise InvalidInput(_("The day of the answer is no date.")) from error


@require_http_methods(["GET", "POST"])
def api_routes(request, pk):
    """The APIs with their routes in force; a POST records one route for those that are ticked."""
    model = get_object_or_404(
        MigratedModel.objects.visible_to(request.user).select_related("engagement"), pk=pk)
    if request.method == "POST":
        attempt(request, lambda: record_routes(
            actor=request.user, model=model, apis=request.POST.getlist("apis"),
            route=request.POST.get("route", ""), reason=request.POST.get("reason", ""),
            link=request.POST.get("link", ""),
            answered_on=_day(request.POST.get("answered_on", ""))),
            _("The route is recorded."))
        return redirect("workers:api_routes", pk)
    found = found_apis(model)
    return render(request, "workers/api_routes.html", {
        "model": model, "engagement": model.engagement, "found": found,
        "open": sum(entry.is_open for entry in found), "routes": ApiRoute.Route.choices,
        "history": model.api_routes.select_related("decided_by"),
        "may_record": allowed(request.user, Can.WORK)})
