"""The board over all engagements."""

from django.core.paginator import Paginator
from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.planning.board import board as rows_of
from engagements.access import Can, require
from engagements.models import Engagement
from engagements.stages import DONE, Stage, StageState


@require_GET
def board(request):
    require(request.user, Can.VIEW_INTERNAL)
    rows = rows_of(request.user, request.GET)
    open_states = [s for s in StageState if s not in DONE]
    return render(request, "delivery/planning/board.html", {
        "page": Paginator(rows, 50).get_page(request.GET.get("page")), "stages": list(Stage),
        "states": open_states, "blocked": sum(row.is_blocked for row in rows),
        "old": sum(row.is_old for row in rows),
        "engagements": Engagement.objects.visible_to(request.user).filter(
            state=Engagement.State.ACTIVE)})
