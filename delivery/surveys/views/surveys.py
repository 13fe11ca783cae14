"""Pages of surveys; each view calls one service."""

import json

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from bundle_verifier.json_limits import parse_json
from delivery.surveys import services
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.forms import CellsForm, VersionForm, changes_of
from delivery.surveys.known_facts import known_facts
from delivery.surveys.models import Comment, Question, Questionnaire, Survey
from delivery.surveys.serializers import QuestionSerializer
from delivery.surveys.services import publishing
from delivery.surveys.services.version_transfer import set_aside
from delivery.surveys.topology import picture
from delivery.surveys.transitions import TRANSITIONS
from engagements.access import require_administrator
from engagements.errors import DeskError, InvalidInput
from engagements.moves import offered_moves
from engagements.web.form_actions import attempt, attempt_form, state_reached
from engagements.web.paging import count_text, counted
from engagements.web.row_pages import visible_engagement
from workers.models import Artifact

MAX_JSON_BYTES = 2**20


def survey_of(request, code) -> Survey:
    return get_object_or_404(Survey.objects.visible_to(request.user).select_related(
        "engagement__customer", "questionnaire", "submitted_by", "confirmed_by"),
        engagement__code=code)


@require_GET
def overview(request, code):
    engagement = visible_engagement(request, code)
    survey = Survey.objects.filter(engagement=engagement).select_related(
        "questionnaire", "submitted_by", "confirmed_by").first()
    sheet = Sheet(survey) if survey else None
    return render(request, "delivery/surveys/overview.html", {
        "engagement": engagement, "survey": survey, "active": "survey",
        "pages": sheet.pages() if sheet else [], "missing": sheet.missing if sheet else [],
        "progress": sheet.progress() if sheet else {},
        "topology": mark_safe(picture(str(sheet.value("topology") or ""))) if sheet else "",
        "may_fill": services.may_fill(request.user),
        "moves": offered_moves(request.user, TRANSITIONS, survey) if survey else {},
        "newest": publishing.current_questionnaire(),
        "aside": set_aside(survey) if survey else []})


@require_POST
def start(request, code):
    engagement = visible_engagement(request, code)
    attempt(request, lambda: services.start_survey(actor=request.user, engagement=engagement),
            _("Survey started."))
    return redirect("surveys:overview", code)


@require_POST
def survey_move(request, code, move):
    survey = survey_of(request, code)
    attempt(request, lambda: services.move_survey(
        actor=request.user, survey=survey, move=move), lambda: state_reached(survey, _("Survey")))
    return redirect("surveys:overview", code)


@require_http_methods(["GET", "POST"])
def section_page(request, code, section):
    """One section, for per-model questions of one model. Saves what is valid, shows the rest."""
    survey, saved = survey_of(request, code), None
    sheet, model_code = Sheet(survey), request.GET.get("model", "")
    if request.method == "POST":
        sent = changes_of(request.POST, _page_cells(sheet, section, model_code))
        try:
            saved = services.save_answers(actor=request.user, survey=survey, changes=sent)
        except DeskError as error:
            messages.error(request, error.message)
            return _again(request, code, section, model_code)
        asked_before, sheet = {c.name for c in sheet.asked}, Sheet(survey)
        if request.htmx:
            return _autosaved(request, sheet, section, model_code, saved, asked_before)
        if not saved.errors and not saved.conflicts:
            return _went_on(request, survey, section, model_code)
    return render(request, "delivery/surveys/section.html",
                  _section_context(request, sheet, section, model_code, saved))


def _went_on(request, survey: Survey, section: str, model_code: str) -> HttpResponse:
    """After everything was saved: copy what was asked for, and open the page that was asked for."""
    source, _to, target = request.POST.get("copy", "").partition(">")
    if target:
        models = {model.code: model for model in survey.engagement.models.current()}
        if source not in models or target not in models:
            raise Http404
        copied = attempt(request, lambda: services.copy_answers(
            actor=request.user, survey=survey, source=models[source], target=models[target]),
            _("Answers copied where there were none."))
        if copied:
            return _again(request, survey.engagement.code, section, model_code)
    messages.success(request, _("Saved."))
    codes = [page["code"] for page in Sheet(survey).pages()]
    wanted = request.POST.get("go", "")
    return _again(request, survey.engagement.code, *(
        (wanted, "") if wanted in codes else (section, model_code)))


def _page_of(sheet: Sheet, section: str) -> dict | None:
    """The page that holds the section."""
    return next((page for page in sheet.pages()
                 if section in [part["code"] for part in page["sections"]]), None)


def _page_cells(sheet: Sheet, section: str, model_code: str) -> list:
    """All inputs of the page that holds the section; with a model those of that model alone."""
    page = _page_of(sheet, section)
    codes = [part["code"] for part in page["sections"]] if page else [section]
    cells = [cell for code in codes for model in (None, *sheet.models)
             for cell in sheet.cells.values()
             if cell.question.section == code and cell.model == model
             and (not model_code or (model and model.code == model_code))]
    if not cells:
        raise Http404
    return cells


def _section_context(request, sheet: Sheet, section, model_code, saved=None) -> dict:
    cells = [cell for cell in _page_cells(sheet, section, model_code) if sheet.is_asked(cell)]
    survey, pages, page = sheet.survey, sheet.pages(), _page_of(sheet, section)
    comments = Comment.objects.visible_to(request.user).filter(
        survey=survey).select_related("author")
    here = pages.index(page) if page else -1
    may_fill = survey.state == Survey.State.DRAFT and services.may_fill(request.user)
    return {"survey": survey, "engagement": survey.engagement, "active": "survey",
            "section": section, "model_code": model_code, "saved": saved,
            "title": page["label"] if page else next(
                q.localized_section for q in sheet.questions if q.section == section),
            "pages": pages, "models": sheet.models,
            "form": CellsForm(cells, saved, request.POST if saved else None, list(comments),
                              known_facts(survey) if may_fill else None),
            "part": page, "number": here + 1, "of": len(pages), "progress": sheet.progress(),
            "files": Artifact.objects.filter(engagement=survey.engagement).order_by("-pk")[:200],
            "following": pages[here + 1]["code"] if 0 <= here < len(pages) - 1 else "",
            "previous": pages[here - 1]["code"] if here > 0 else "",
            "is_open": may_fill}


def _autosaved(request, sheet, section, model_code, saved, asked_before) -> HttpResponse:
    """A line of state and the new revisions; the whole form when other inputs are asked now."""
    context = _section_context(request, sheet, section, model_code, saved)
    changed = {c.name for c in sheet.asked} != asked_before
    if not changed and not saved.errors and not saved.conflicts:
        return render(request, "delivery/surveys/autosaved.html", context)
    answer = render(request, "delivery/surveys/section_form.html", context)
    answer["HX-Retarget"], answer["HX-Reswap"] = "#survey-form", "outerHTML"
    return answer


def _again(request, code, section, model_code) -> HttpResponse:
    place = reverse("surveys:section", args=[code, section]) + (
        f"?model={model_code}" if model_code else "")
    if not request.htmx:
        return redirect(place)
    return HttpResponse(headers={"HX-Redirect": place})


@require_POST
def comment_add(request, code):
    survey, name = survey_of(request, code), request.POST.get("name", "")
    key, _at, model_code = name.partition("@")
    question = get_object_or_404(Question, questionnaire=survey.questionnaire, key=key)
    attempt(request, lambda: services.add_comment(
        actor=request.user, survey=survey, name=name, text=request.POST.get("text", ""),
        is_internal="is_internal" in request.POST), _("Comment saved."))
    return _again(request, code, question.section, model_code)


@require_GET
def versions(request):
    require_administrator(request.user)
    return render(request, "delivery/surveys/versions.html", {
        "versions": _versions(), "form": VersionForm()})


@require_POST
def version_new(request):
    form = VersionForm(request.POST, request.FILES)
    if form.is_valid() and attempt_form(form, lambda: publishing.publish_questionnaire(
            actor=request.user, questions=_json_of(form.cleaned_data["file"]),
            note=form.cleaned_data["note"])):
        messages.success(request, _("New version published."))
        return redirect("surveys:versions")
    require_administrator(request.user)
    return render(request, "delivery/surveys/versions.html", {
        "versions": _versions(), "form": form})


def _versions():
    """With the number of questions and of surveys; these are counted to a limit."""
    found = list(Questionnaire.objects.annotate(question_count=Count("questions")))
    for version in found:
        version.survey_count = count_text(counted(version.surveys.all()))
    return found


def _json_of(file) -> list:
    try:
        if file.size > MAX_JSON_BYTES:
            raise ValueError
        return parse_json(file.read().decode("utf-8-sig"))
    except ValueError:
        raise InvalidInput(_("This file is not the JSON of a questionnaire.")) from None


@require_GET
def version_file(request, pk):
    """The questions of a version as JSON, to be changed and uploaded as a new one."""
    require_administrator(request.user)
    found = get_object_or_404(Questionnaire, pk=pk)
    text = json.dumps(QuestionSerializer(found.questions.all(), many=True).data,
                      ensure_ascii=False, indent=1)
    return HttpResponse(text, content_type="application/json; charset=utf-8", headers={
        "Content-Disposition": f'attachment; filename="questionnaire-V{found.version}.json"'})
