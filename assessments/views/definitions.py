"""Pages of metric definitions."""

from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from assessments import services
from assessments.definitions import versions
from assessments.forms import PreviewForm, SampleForm, VersionForm
from assessments.models import Criterion, MetricDefinition
from assessments.presentation import verdict_rows
from assessments.services.definitions import drafted
from engagements.access import Can, require
from engagements.web.form_actions import attempt_form


@require_GET
def definitions(request):
    """The newest version of every definition, the older ones beside it."""
    by_code: dict[str, list[MetricDefinition]] = {}
    for row in MetricDefinition.objects.all():
        by_code.setdefault(row.code, []).append(row)
    return render(request, "assessments/definitions.html", {
        "definitions": [(rows[0], rows[1:]) for rows in by_code.values()]})


@require_GET
def definition(request, pk):
    """One version: what it says, what it changed, where the user's engagements use it."""
    found = get_object_or_404(MetricDefinition.objects.select_related("created_by"), pk=pk)
    used = Criterion.objects.visible_to(request.user).filter(definition=found).select_related(
        "criteria_set__engagement", "model")
    rows = list(MetricDefinition.objects.filter(code=found.code))
    before = next((row for row in rows if row.version < found.version), None)
    return render(request, "assessments/definition.html", {
        "definition": found, "used": used, "versions": rows, "before": before,
        "changes": versions.changes(before, found) if before else []})


@require_http_methods(["GET", "POST"])
def definition_new(request, pk):
    """A new version; to htmx what the entered version does to the sample."""
    require(request.user, Can.MANAGE)
    old = get_object_or_404(MetricDefinition, pk=pk)
    data = request.POST or (request.GET if request.htmx else None)
    form, sample = VersionForm(data, instance=old), SampleForm(data, definition=old)
    if request.htmx:
        return render(request, "assessments/definition_effect.html", _effect(old, form, sample))
    if form.is_valid():
        new = attempt_form(form, lambda: services.add_definition_version(
            actor=request.user, definition=old, **form.cleaned_data))
        if new:
            return redirect("assessments:definition", new.pk)
    shown = SampleForm(None, definition=old)
    return render(request, "assessments/definition_form.html", {
        "definition": old, "form": form, "sample_form": sample if form.is_bound else shown})


def _effect(old: MetricDefinition, form: VersionForm, sample: SampleForm) -> dict:
    """Both versions on the sample; without an answer while something entered makes no sense."""
    form.is_valid()
    wrong = [name for name in form.errors if name != "change_note"]
    if wrong or not sample.is_valid():
        return {"effects": None}
    new = drafted(old, form.cleaned_data)
    return {"changes": versions.changes(old, new),
            "effects": versions.effects(
                [(versions.version_label(row), row) for row in (old, new)],
                sample.sample())}


@require_GET
def definition_preview(request):
    """What a definition makes of a sample pair; the part of it alone for a partial request."""
    form = PreviewForm(request.GET if request.GET else {
        "pair": "halves", "figure": "mean_relative_error", "comparison": "lt",
        "threshold": "2", "epsilon": "0"})
    answer = verdict_rows.preview(form.cleaned_data) if form.is_valid() else None
    name = "preview_result" if request.htmx else "preview"
    return render(request, f"assessments/{name}.html", {"form": form, "answer": answer})
