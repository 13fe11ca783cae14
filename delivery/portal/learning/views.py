"""Pages of what the engagements teach; each calls one query and answers."""

from django.contrib import messages
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from delivery.portal.learning import experience
from delivery.portal.learning.card_hours import card_hours
from engagements.access import Can, allowed, require
from engagements.errors import InvalidInput
from workers.card_usage import question


@require_GET
def learning(request):
    """Commonest risks, days by grade and stage, and models of a task with their days."""
    require(request.user, Can.VIEW_INTERNAL)
    keys, task = experience.newest(request.user), request.GET.get("task", "")
    return render(request, "delivery/portal/learning.html", {
        "count": len(keys), "most": experience.MOST, "risks": experience.commonest_risks(keys),
        "grades": experience.with_total(experience.days_by_grade(keys), _("Total")),
        "stages": experience.with_total(experience.days_by_stage(keys), _("Total")),
        "tasks": experience.tasks(keys), "task": task,
        "similar": experience.similar_models(keys, task) if task else []})


@require_GET
def cards(request):
    """Card hours of the period by engagement and model, beside the quoted resources."""
    require(request.user, Can.VIEW_INTERNAL)
    try:
        asked = question(request.GET, timezone.now())
    except InvalidInput as error:
        messages.error(request, error.message)
        return redirect("portal:cards")
    return render(request, "delivery/portal/card_hours.html", {
        "rows": card_hours(request.user, asked), "asked": asked,
        "with_price": allowed(request.user, Can.PRICE)})
