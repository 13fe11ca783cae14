"""Pages of a model's training runs: the table, and up to five of them beside each other."""

from django.contrib import messages
from django.http import Http404, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from assessments.charts.training_runs import Curve, runs_spec
from assessments.presentation.training_runs import (
    MOST_COMPARED,
    TrainingRun,
    chosen_settings,
    described,
    environment_lines,
    figure_lines,
    setting_lines,
    training_logs,
)
from assessments.views.lookups import visible_model
from engagements.models import MigratedModel
from engagements.web.paging import page_of
from toolreaders.base import ReadError
from toolreaders.number_parsing import whole_number
from workers.logs.customer_text import shown_to


@require_GET
def training_runs(request, pk):
    """All training logs of a model: settings as chosen, figures, verdicts."""
    model = visible_model(request, pk)
    page = page_of(training_logs(model), request.GET, 25)
    runs, shown = described(page), shown_to(request.user)
    lines = setting_lines(runs)
    columns = chosen_settings(lines, request.GET.getlist("setting"))
    return render(request, "assessments/training_runs.html", {
        "model": model, "engagement": model.engagement, "active": "performance", "page": page,
        "columns": columns, "settings": lines, "most": MOST_COMPARED, "rows": [
            (run, [shown(run.settings.get(name) or "") for name in columns]) for run in runs]})


def _asked(request, model: MigratedModel) -> list[TrainingRun]:
    """The runs that the address names, in its order: the first is what others are compared with."""
    keys = [whole_number(text) for text in request.GET.getlist("run")]
    found = {run.artifact.pk: run for run in described(
        training_logs(model).filter(artifact__in=[key for key in keys if key][:MOST_COMPARED]))}
    return [found[key] for key in dict.fromkeys(keys) if key in found]


@require_GET
def compare_training_runs(request, pk):
    """Two to five runs: curves, and what they differ in."""
    model = visible_model(request, pk)
    runs, shown = _asked(request, model), shown_to(request.user)
    asked = len(set(request.GET.getlist("run")))
    if len(runs) < 2 or asked > MOST_COMPARED:
        messages.error(request, _("Choose two to %(most)d runs to compare.")
                       % {"most": MOST_COMPARED})
        return training_runs(request, pk)
    is_whole = "all" in request.GET
    tables = [(title, [
        (line, [value if value is None else shown(value) for value in line.values])
        for line in lines if is_whole or is_always or line.is_different])
        for title, lines, is_always in (
            (_("Figures"), figure_lines(runs), True),
            (_("Environment"), environment_lines(runs), False),
            (_("Settings"), setting_lines(runs), False))]
    return render(request, "assessments/training_run_comparison.html", {
        "model": model, "engagement": model.engagement, "active": "performance", "runs": runs,
        "tables": tables, "is_whole": is_whole})


@require_GET
def training_runs_spec(request, pk):
    """The curves of the runs that the address names, as a Vega-Lite specification."""
    runs = _asked(request, visible_model(request, pk))
    try:
        curves = [Curve.of(run.name, run.artifact) for run in runs]
    except ReadError as error:
        raise Http404(error.message) from error
    if not curves:
        raise Http404
    return JsonResponse(runs_spec(curves))
