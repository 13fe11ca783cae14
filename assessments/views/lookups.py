"""What several pages begin or end with."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from assessments.models import CriteriaSet, Criterion
from engagements.models import Engagement, MigratedModel
from workers.models import Artifact


def visible_engagement(request, code: str) -> Engagement:
    """The engagement that the user may see, or 404."""
    return get_object_or_404(Engagement.objects.visible_to(request.user), code=code)


def visible_criterion(request, pk: int) -> Criterion:
    """The criterion that the user may see, or 404."""
    rows = Criterion.objects.visible_to(request.user).select_related(
        "criteria_set__engagement", "model", "definition", "baseline__artifact")
    return get_object_or_404(rows, pk=pk)


def visible_model(request, pk: int) -> MigratedModel:
    """The model that the user may see, or 404."""
    rows = MigratedModel.objects.visible_to(request.user).select_related("engagement")
    return get_object_or_404(rows, pk=pk)


def visible_file(request, pk: int) -> Artifact:
    """A file of an engagement that the user may see, or 404."""
    rows = Artifact.objects.visible_to(request.user).filter(engagement__isnull=False)
    return get_object_or_404(rows.select_related("engagement", "model", "job"), pk=pk)


def to_criteria(code: str, criteria_set: CriteriaSet | None = None) -> HttpResponse:
    """Back to the criteria, in the version of the set."""
    answer = redirect("assessments:criteria", code)
    if criteria_set:
        answer["Location"] += f"?version={criteria_set.version}"
    return answer


def form_page(request, engagement: Engagement, form, title: str) -> HttpResponse:
    """A form under the engagement's tabs."""
    return render(request, "assessments/form.html", {
        "engagement": engagement, "active": "criteria", "form": form, "title": title})
