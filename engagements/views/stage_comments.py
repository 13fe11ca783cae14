"""Comments on a stage, written beside the matrix."""

from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from engagements import services
from engagements.access import Can, require
from engagements.forms import StageCommentForm
from engagements.views.stages import record_of_page
from engagements.web.form_actions import attempt_form

NEWEST = 10


@require_http_methods(["GET", "POST"])
def stage_comments(request, code, model_code, stage):
    """The form and the newest comments for the drawer; after a comment the matrix' cell too.

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
    newest = list(record.comments.select_related("author")[:NEWEST])
    record.newest_comments = newest[:1]
    return render(request, "engagements/stage_comments.html" if in_place
                  else "engagements/stage_comments_page.html", {
        "record": record, "model": record.model, "engagement": record.engagement,
        "form": StageCommentForm() if added else form, "added": added, "comments": newest})
