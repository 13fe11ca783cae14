"""Accuracy drill-down: the engagement's tab, a comparison's operators, overflow."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from assessments import services
from assessments.accuracy import operators, overflow
from assessments.accuracy.readings import accuracy_files
from assessments.models import Comparison, Deviation
from assessments.queries import COMPARISON_READERS
from assessments.views.lookups import visible_engagement, visible_file
from engagements.access import Can, require
from engagements.web.form_actions import attempt
from engagements.web.paging import page_of
from toolreaders.number_parsing import whole_number
from workers.models import StoredReading

PER_PAGE = 50


@require_GET
def accuracy(request, code):
    """Comparisons, configuration checks and overflow findings of an engagement."""
    engagement = visible_engagement(request, code)
    wanted = request.GET.get("model", "")
    files = accuracy_files(engagement, whole_number(wanted))
    page = page_of(files, request.GET, 30)
    return render(request, "assessments/accuracy.html", {
        "engagement": engagement, "active": "accuracy", "page": page,
        "models": engagement.models.all(), "model": wanted})


@require_GET
def comparison(request, pk):
    """The operators of a comparison; to htmx the table alone."""
    artifact = visible_file(request, pk)
    reading = _reading(artifact, COMPARISON_READERS)
    found = Comparison.objects.filter(artifact=artifact).first()
    context = {"artifact": artifact, "engagement": artifact.engagement, "active": "accuracy",
               "reading": reading, "comparison": found}
    if found and not found.problem:
        rows = operators.filtered_rows(found, request.GET)
        context["page"] = page_of(rows, request.GET, PER_PAGE)
        context["reasons"], context["roles"] = Deviation.choices, operators.ROLES
    if request.htmx and "page" in context:
        return render(request, "assessments/comparison_rows.html", context)
    if "page" in context:
        context["marked"] = operators.marked_rows(found)
    return render(request, "assessments/comparison.html", context)


def _reading(artifact, readers: tuple[str, ...]) -> StoredReading:
    found = artifact.readings.filter(reader__in=readers).first()
    if found is None:
        raise Http404
    return found


@require_POST
def comparison_index(request, pk):
    """Index a comparison's rows now, where no worker has done it."""
    artifact = visible_file(request, pk)
    require(request.user, Can.WORK, artifact.engagement)
    attempt(request, lambda: services.index_comparison(artifact=artifact),
            _("Rows indexed."))
    return redirect("assessments:comparison", pk)


@require_GET
def operator(request, pk):
    """One operator in all comparisons of the model."""
    artifact = visible_file(request, pk)
    op = request.GET.get("op", "")
    runs = operators.operator_history(artifact, op) if op else []
    own = next((run for run in runs if run.comparison.artifact_id == artifact.pk), None)
    if own is None or not own.rows:
        raise Http404
    return render(request, "assessments/operator.html", {
        "artifact": artifact, "engagement": artifact.engagement, "active": "accuracy", "op": op,
        "runs": runs, "own": own})


@require_GET
def overflow_page(request, pk):
    """The overflow status bits of a file, decoded."""
    artifact = visible_file(request, pk)
    reading = artifact.readings.filter(kind="overflow").first()
    if reading is None:
        raise Http404
    return render(request, "assessments/overflow.html", {
        "artifact": artifact, "engagement": artifact.engagement, "active": "accuracy",
        "reading": reading, "findings": overflow.findings(reading),
        "bit_table": overflow.bit_table()})
