"""The board over all engagements, and one move for many models."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from delivery.planning import board as rows_query
from engagements import queries, services
from engagements.access import Can, require
from engagements.errors import InvalidInput
from engagements.models import Engagement, StageRecord
from engagements.moves import has_permission
from engagements.search_index import pages_of
from engagements.stages import BULK_MOVES, DONE, TRANSITIONS, Stage, StageMove, StageState
from engagements.views.stages import undo_of_moves
from engagements.web.form_actions import attempt
from engagements.web.offered_choices import offered
from engagements.web.paging import counted, page_of

ROWS_PER_PAGE = 25
MOST_MOVED = 500  # models that one move takes


@require_GET
def board(request):
    require(request.user, Can.VIEW_INTERNAL)
    now = timezone.now()
    found = rows_query.matching(request.user, request.GET, now)
    tallies = rows_query.tallies_of(found, now)
    page = page_of(found, request.GET, ROWS_PER_PAGE, pages_of(request.GET), tallies.models)
    return render(request, "delivery/planning/board.html", {
        "page": page, "rows": rows_query.rows_of(page, now), "stages": list(Stage),
        "states": [state for state in StageState if state not in DONE],
        "every_state": list(StageState),
        "blocked": f"{tallies.blocked}{tallies.more}", "old": f"{tallies.old}{tallies.more}",
        "moves": [move for move in BULK_MOVES if has_permission(request.user, TRANSITIONS[move])],
        "may_move_all": page.paginator.total <= MOST_MOVED,
        "engagements": offered(Engagement.objects.visible_to(request.user).filter(
            state=Engagement.State.ACTIVE))})


@require_POST
def board_move(request):
    """Move the current stages of the chosen models, or of all that fit the filter.

    Where all moved, the page of the form follows, with the offer to take it back; else a page that
    says why the others did not.
    """
    require(request.user, Can.VIEW_INTERNAL)
    move = request.POST.get("move", "")
    if move not in BULK_MOVES:
        raise Http404
    done = services.move_stages(
        actor=request.user, records=_chosen(request), move=move,
        comment=request.POST.get("comment", ""))
    place = _place_of_form(request, done)
    if done.moved:
        count = len(done.moved)
        attempt(request, lambda: done.moved, ngettext(
            "%(n)d stage moved: %(move)s", "%(n)d stages moved: %(move)s", count)
                % {"n": count, "move": StageMove(move).label}, undo=undo_of_moves)
        if not done.refused:
            return redirect(place)
    return render(request, "delivery/planning/board_moved.html", {
        "move": StageMove(move).label, "done": done, "filter": request.GET.urlencode(),
        "after_undo": place})


def _place_of_form(request, done: services.BulkMove) -> str:
    """The engagement's matrix, or the board with its filter."""
    if request.POST.get("back") == "matrix" and done.moved:
        return queries.place_in_matrix(done.moved[0].record)
    return f"{reverse('planning:board')}?{request.GET.urlencode()}"


def _chosen(request) -> list[StageRecord]:
    """The chosen stages also where they moved on meanwhile: the move then says so.

    Raises InvalidInput where all that fit the filter are more than one move takes.
    """
    records = StageRecord.objects.visible_to(request.user).select_related("model__engagement")
    if request.POST.get("all"):
        found = rows_query.matching(request.user, request.GET)
        if counted(found, MOST_MOVED) > MOST_MOVED:
            raise InvalidInput(_("More than %(n)d models fit the filter; narrow it down.")
                               % {"n": MOST_MOVED})
        chosen = records.in_bulk([key for key in found.values_list("record", flat=True) if key])
        return list(chosen.values())
    keys = [key for key in request.POST.getlist("record") if key.isdecimal()]
    return list(records.filter(pk__in=keys))
