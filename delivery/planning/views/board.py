"""The board over all engagements, and one move for many models."""

from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from delivery.planning.board import Row
from delivery.planning.board import board as rows_of
from engagements import services
from engagements.access import Can, require
from engagements.models import Engagement, StageRecord
from engagements.moves import has_permission
from engagements.stages import DONE, TRANSITIONS, Stage, StageMove, StageState

BULK_MOVES = (StageMove.START, StageMove.SUBMIT, StageMove.PASS, StageMove.SEND_BACK)


@require_GET
def board(request):
    require(request.user, Can.VIEW_INTERNAL)
    rows = rows_of(request.user, request.GET)
    open_states = [s for s in StageState if s not in DONE]
    return render(request, "delivery/planning/board.html", {
        "page": Paginator(rows, 50).get_page(request.GET.get("page")), "stages": list(Stage),
        "states": open_states, "blocked": sum(row.is_blocked for row in rows),
        "old": sum(row.is_old for row in rows), "moves": _moves(request.user),
        "engagements": Engagement.objects.visible_to(request.user).filter(
            state=Engagement.State.ACTIVE)})


def _moves(user) -> list[StageMove]:
    return [move for move in BULK_MOVES if has_permission(user, TRANSITIONS[move])]


@require_POST
def board_move(request):
    """Move the current stages of the chosen models, or of all that fit the filter."""
    require(request.user, Can.VIEW_INTERNAL)
    move = request.POST.get("move", "")
    if move not in BULK_MOVES:
        raise Http404
    done = services.move_stages(
        actor=request.user, records=_chosen(request), move=move,
        comment=request.POST.get("comment", ""))
    return render(request, "delivery/planning/board_moved.html", {
        "move": StageMove(move).label, "done": done, "filter": request.GET.urlencode()})


def _chosen(request) -> list[StageRecord]:
    """The chosen stages also where they moved on meanwhile: the move then says so."""
    rows: list[Row] = rows_of(request.user, request.GET)
    if request.POST.get("all"):
        return [row.current for row in rows if row.current]
    keys = [key for key in request.POST.getlist("record") if key.isdecimal()]
    return list(StageRecord.objects.visible_to(request.user).filter(pk__in=keys).select_related(
        "model__engagement"))
