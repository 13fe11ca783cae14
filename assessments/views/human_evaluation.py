"""Pages of human evaluations: list, new one, one with its sheet, raters and result."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from assessments import services
from assessments.forms.human_evaluation import HumanEvaluationForm, RatingUploadForm
from assessments.human_evaluation.results import results_of
from assessments.models import HumanEvaluation, HumanRating
from assessments.views.lookups import visible_engagement
from engagements.access import Can, allowed, require
from engagements.models import Engagement
from engagements.web.file_responses import LANGUAGES, attached
from engagements.web.form_actions import XLSX, attempt, attempt_form
from engagements.web.paging import page_of
from toolreaders.verdicts.agreement import FORMULA
from workers.artifacts.reading_state import wait_until_read
from workers.services import upload_artifact


@require_GET
def human_evaluations(request, code):
    """The human evaluations of an engagement, newest first."""
    engagement = visible_engagement(request, code)
    rows = HumanEvaluation.objects.filter(model__engagement=engagement).select_related(
        "model", "recorded_by").prefetch_related("ratings").defer("items")
    return render(request, "assessments/human_evaluations.html", {
        "engagement": engagement, "active": "accuracy", "page": page_of(rows, request.GET, 30),
        "can_work": allowed(request.user, Can.WORK)})


@require_http_methods(["GET", "POST"])
def human_evaluation_new(request, code):
    """Start one from two files of answers."""
    engagement = visible_engagement(request, code)
    require(request.user, Can.WORK, engagement)
    form = HumanEvaluationForm(request.POST or None, request.FILES or None, engagement=engagement)
    if form.is_valid() and (made := attempt_form(form, lambda: _start(
            request.user, engagement, form.cleaned_data))):
        return redirect("assessments:human_evaluation", made.pk)
    return render(request, "assessments/human_evaluation_form.html", {
        "engagement": engagement, "active": "accuracy", "form": form})


def _start(user, engagement: Engagement, data: dict) -> HumanEvaluation:
    files = {side: data[side] or upload_artifact(
        actor=user, engagement=engagement, model=data["model"],
        upload=data[side.replace("_file", "_upload")])
        for side in ("baseline_file", "candidate_file")}
    wait_until_read(*files.values())
    return services.start_evaluation(
        actor=user, model=data["model"], name=data["name"], instruction=data["instruction"],
        **files)


def _visible(request, pk: int) -> HumanEvaluation:
    rows = HumanEvaluation.objects.visible_to(request.user).select_related(
        "model__engagement", "baseline_file", "candidate_file", "report", "recorded_by")
    return get_object_or_404(rows, pk=pk)


@require_GET
def human_evaluation(request, pk):
    """Sheet, raters and, once concluded, what came of it: before that it stays blind."""
    return _page(request, _visible(request, pk), RatingUploadForm())


def _page(request, evaluation: HumanEvaluation, form: RatingUploadForm):
    ratings = evaluation.ratings.select_related("artifact", "imported_by")
    return render(request, "assessments/human_evaluation.html", {
        "evaluation": evaluation, "engagement": evaluation.model.engagement, "active": "accuracy",
        "items": len(evaluation.items), "form": form, "formula": FORMULA,
        "page": page_of(ratings, request.GET, 30),
        "results": results_of(evaluation) if evaluation.is_concluded else None,
        "can_work": allowed(request.user, Can.WORK)})


@require_GET
def human_evaluation_sheet(request, pk):
    """The rating sheet in the language of the page."""
    from assessments.human_evaluation.sheet import rating_sheet  # openpyxl: not at start

    evaluation = _visible(request, pk)
    language = get_language() if get_language() in LANGUAGES else LANGUAGES[0]
    return attached(rating_sheet(evaluation, language), XLSX,
                    f"rating-{evaluation.pk}-{language}.xlsx", evaluation)


@require_POST
def human_evaluation_rate(request, pk):
    """Take in a filled-in sheet."""
    evaluation = _visible(request, pk)
    form = RatingUploadForm(request.POST, request.FILES)
    if form.is_valid() and attempt_form(form, lambda: services.import_rating(
            actor=request.user, evaluation=evaluation, upload=form.cleaned_data["file"])):
        return redirect("assessments:human_evaluation", pk)
    return _page(request, evaluation, form)


@require_POST
def human_rating_remove(request, pk):
    """Take a rater's choices back."""
    rows = HumanRating.objects.visible_to(request.user).select_related(
        "evaluation__model__engagement")
    rating = get_object_or_404(rows, pk=pk)
    attempt(request, lambda: services.remove_rating(actor=request.user, rating=rating),
            _("Rating withdrawn; its sheet is kept."))
    return redirect("assessments:human_evaluation", rating.evaluation_id)


@require_POST
def human_evaluation_conclude(request, pk):
    """Unblind and measure."""
    evaluation = _visible(request, pk)
    attempt(request, lambda: services.conclude_evaluation(
        actor=request.user, evaluation=evaluation), _("Concluded and measured."))
    return redirect("assessments:human_evaluation", pk)
