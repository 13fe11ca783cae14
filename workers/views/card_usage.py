"""The history of cards: who held them when, card hours and how busy they were."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from engagements.access import Can, require
from engagements.errors import InvalidInput
from engagements.web.form_actions import XLSX
from workers import card_usage
from workers.labels.card_timeline import card_timeline
from workers.models import Node
from workers.services import node_calendar

MOST_LEASES = 200  # on the page; the file has all


@require_GET
def history(request):
    """The sums as bars and table, and the newest leases; `?file=xlsx` for all of it."""
    require(request.user, Can.VIEW_INTERNAL)
    now = timezone.now()
    try:
        asked = card_usage.question(request.GET, now)
    except InvalidInput as error:
        messages.error(request, error.message)
        return redirect("workers:history")
    found = card_usage.answer(request.user, asked, now)
    if request.GET.get("file") == "xlsx":
        name = f"card-hours-{timezone.localtime(asked.start):%Y%m%d}.xlsx"
        return HttpResponse(card_usage.workbook(found, asked), content_type=XLSX, headers={
            "Content-Disposition": f'attachment; filename="{name}"'})
    return render(request, "workers/history.html", {
        **found, "asked": asked, "groups": card_usage.GROUPS,
        "group": card_usage.GROUPS[asked.by],
        "timeline": card_timeline(found["leases"], node_calendar.reservations_ahead(
            request.user, asked.start), asked.start, asked.end),
        "shown": found["leases"][:MOST_LEASES], "nodes": Node.objects.visible_to(request.user)})
