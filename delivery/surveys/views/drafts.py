"""Pages on which administrators make the next version of the questionnaire."""

from django.contrib import messages
from django.http import Http404
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.surveys.consequences.question_keys import FOLLOWED
from delivery.surveys.draft_differences import differences
from delivery.surveys.draft_forms import QuestionForm
from delivery.surveys.draft_serializers import PublishDraftSerializer
from delivery.surveys.models import QuestionnaireDraft
from delivery.surveys.services import questionnaire_drafts
from delivery.surveys.services.publishing import question_dicts
from engagements.access import require_administrator
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.row_pages import posted
from toolreaders.number_parsing import whole_number


def _draft(request) -> QuestionnaireDraft:
    require_administrator(request.user)
    found = QuestionnaireDraft.objects.select_related("base", "changed_by").first()
    if found is None:
        raise Http404
    return found


def _seen(request) -> int:
    seen = whole_number(request.POST.get("seen"))
    return -1 if seen is None else seen


@require_POST
def draft_begin(request):
    made = attempt(request, lambda: questionnaire_drafts.begin_draft(actor=request.user),
                   _("A draft of the next version was created."))
    return redirect("surveys:draft" if made else "surveys:versions")


@require_GET
def draft(request):
    """All questions of the draft, and what it changes."""
    found = _draft(request)
    return render(request, "delivery/surveys/draft.html", {
        "draft": found, "followed": FOLLOWED,
        "differences": _labelled(differences(question_dicts(found.base), found.questions))})


def _labelled(rows: list[dict]) -> list[dict]:
    """The rows with the fields named as in the form."""
    labels = QuestionForm.names()
    return [{**row, "fields": [(labels.get(name, name), before, after)
                               for name, before, after in row["fields"]]} for row in rows]


@require_http_methods(["GET", "POST"])
def draft_question(request, key=""):
    """Change a question, or put a new one in."""
    found = _draft(request)
    question = next((q for q in found.questions if q["key"] == key), None)
    if key and question is None:
        raise Http404
    form = QuestionForm(request.POST or None, questions=found.questions, question=question)
    if form.is_valid() and attempt_form(form, lambda: questionnaire_drafts.save_question(
            actor=request.user, seen=_seen(request), question=form.question(), key=key,
            after=form.cleaned_data.get("after", ""))):
        messages.success(request, _("Saved."))
        return redirect("surveys:draft")
    return render(request, "delivery/surveys/draft_question.html", {
        "draft": found, "form": form, "key": key, "is_followed": key in FOLLOWED})


@require_POST
def draft_edit(request, key, move):
    """Move a question up or down, or take it out."""
    moves = {"up": lambda: questionnaire_drafts.move_question(
                 actor=request.user, seen=_seen(request), key=key, is_up=True),
             "down": lambda: questionnaire_drafts.move_question(
                 actor=request.user, seen=_seen(request), key=key, is_up=False),
             "remove": lambda: questionnaire_drafts.remove_question(
                 actor=request.user, seen=_seen(request), key=key)}
    attempt(request, moves[move], _("Saved."))
    return redirect("surveys:draft")


@require_POST
def draft_end(request, way):
    """Publish the draft, or throw it away."""
    if way == "discard":
        attempt(request, lambda: questionnaire_drafts.discard_draft(actor=request.user,
                                                                    seen=_seen(request)),
                _("Draft discarded."))
        return redirect("surveys:versions")
    made = attempt(request, lambda: questionnaire_drafts.publish_draft(
        actor=request.user, seen=_seen(request),
        note=posted(request, PublishDraftSerializer)["note"]),
                   _("New version published."))
    return redirect("surveys:versions" if made else "surveys:draft")
