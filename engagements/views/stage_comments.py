"""What is done with a stage beside the matrix: the menu of its cell, and comments."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from engagements import services
from engagements.access import Can, allowed, require
from engagements.forms import StageCommentForm
from engagements.models import Role, StageAssignment, StageRecord
from engagements.views.stages import history_of, offered_moves, record_of_page, waits_for
from engagements.web.form_actions import attempt_form

NEWEST = 10
MENU_ENTRIES = 4  # of the history, in the menu of a cell
MENU = "cell-menu"  # where the matrix shows the menu; see `desk/cell_menu.js`


@require_GET
def cell_menu(request, code, model_code, stage):
    """Moves, assignment, comments and history of a cell; without htmx as a page of its own."""
    record = record_of_page(request, code, model_code, stage)
    require(request.user, Can.VIEW_INTERNAL, record.engagement)
    return _menu(request, record, StageCommentForm())


def _menu(request: HttpRequest, record: StageRecord, form: StageCommentForm, *,
          is_added: bool = False) -> HttpResponse:
    in_place = bool(request.headers.get("HX-Request"))
    record.newest_comments = list(record.comments.select_related("author", "agent")[:1])
    return render(request, "engagements/cell_menu.html" if in_place
                  else "engagements/cell_menu_page.html", {
        "record": record, "model": record.model, "engagement": record.engagement, "form": form,
        "added": is_added, "moves": offered_moves(request.user, record),
        "waits_for": waits_for(record),
        "may_work": allowed(request.user, Can.WORK),
        "given": StageAssignment.objects.filter(record=record).first(),
        "team": record.engagement.memberships.exclude(role=Role.REVIEWER).select_related("user"),
        "history": history_of(request.user, record)[:MENU_ENTRIES]})


@require_http_methods(["GET", "POST"])
def stage_comments(request, code, model_code, stage):
    """The form and the newest comments for the drawer; for the matrix the menu of the cell.

    Without htmx the stage's page follows, whose history holds all comments.
    """
    record = record_of_page(request, code, model_code, stage)
    require(request.user, Can.WORK, record.engagement)
    in_place = bool(request.headers.get("HX-Request"))
    form = StageCommentForm(request.POST or None)
    added = form.is_valid() and attempt_form(form, lambda: services.comment_on_stage(
        actor=request.user, record=record, text=form.cleaned_data["text"]))
    if added and not in_place:
        return redirect("engagements:stage", code, model_code, stage)
    form = StageCommentForm() if added else form
    if request.headers.get("HX-Target") == MENU:
        return _menu(request, record, form, is_added=bool(added))
    return render(request, "engagements/stage_comments.html" if in_place
                  else "engagements/stage_comments_page.html", {
        "record": record, "model": record.model, "engagement": record.engagement,
        "form": form, "added": added,
        "comments": record.comments.select_related("author", "agent")[:NEWEST]})
