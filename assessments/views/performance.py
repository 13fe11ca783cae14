"""Pages of performance: the engagement's tab, a model's figures, its optimisation history."""

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from assessments import services
from assessments.charts.model_charts import chart_spec, chart_svg, chosen
from assessments.forms import RoundForm
from assessments.models import OptimisationRound
from assessments.performance import profiles
from assessments.performance.metric_bars import bars_of
from assessments.performance.overview import overview
from assessments.performance.rounds import history
from assessments.performance.scaling import scaling_of
from assessments.presentation.verdict_rows import told
from assessments.views.lookups import visible_engagement, visible_model
from engagements.access import Can, allowed, require
from engagements.models import MigratedModel
from engagements.web.form_actions import attempt, attempt_form
from toolreaders.number_parsing import whole_number
from workers.artifacts.reading_state import wait_until_read
from workers.models import Purpose
from workers.services import upload_artifact


@require_GET
def performance(request, code):
    """The models of an engagement with their main figures."""
    engagement = visible_engagement(request, code)
    return render(request, "assessments/performance.html", {
        "engagement": engagement, "active": "performance", "rows": overview(engagement)})


@require_GET
def model_performance(request, pk):
    """Everything on the performance of one model."""
    model = visible_model(request, pk)
    known = history(model)
    steps = profiles.step_profiles(model)
    reading = chosen(steps, whole_number(request.GET.get("profile")))
    operators = profiles.operator_profiles(model)
    table = chosen(operators, whole_number(request.GET.get("table")))
    traces = profiles.traces(model)
    trace = chosen(traces, whole_number(request.GET.get("trace")))
    scaling = scaling_of(model, _("project runs"))
    bars = bars_of(model, known)
    return render(request, "assessments/model_performance.html", {
        "model": model, "engagement": model.engagement, "active": "performance",
        "history": known, "bars": bars, "scaling": scaling,
        "is_of_rounds": any(entry.is_of_rounds for entry in bars),
        "step_files": steps[:profiles.PROFILES_SHOWN], "reading": reading,
        "steps": profiles.steps_of(reading) if reading else [],
        "trace_files": traces[:profiles.PROFILES_SHOWN], "trace": trace,
        "ranks": profiles.timelines_of(trace) if trace else [],
        "operator_files": operators[:profiles.PROFILES_SHOWN], "table": table,
        "operators": profiles.operators_of(table) if table else [],
        "is_practice": any(entry.is_practice for entry in bars),
        "can_work": allowed(request.user, Can.WORK)})


@require_GET
def chart_json(request, pk, name):
    """A chart as a Vega-Lite specification."""
    spec = chart_spec(visible_model(request, pk), name, whole_number(request.GET.get("profile")))
    if spec is None:
        raise Http404
    return JsonResponse(spec)


@require_GET
def chart_picture(request, pk, name):
    """The same chart as a picture."""
    svg = chart_svg(visible_model(request, pk), name, whole_number(request.GET.get("profile")))
    if svg is None:
        raise Http404
    return HttpResponse(svg, content_type="image/svg+xml")


@require_http_methods(["GET", "POST"])
def round_new(request, pk):
    """Add a round from the file of its run."""
    model = visible_model(request, pk)
    require(request.user, Can.WORK, model.engagement)
    form = RoundForm(request.POST or None, request.FILES or None, model=model)
    if form.is_valid() and (entry := attempt_form(form, lambda: _record(
            request.user, model, form.cleaned_data))):
        if entry.judged:
            messages.success(request, "\n".join(told(entry.judged, entry.artifact)))
        return redirect("assessments:model_performance", pk)
    return render(request, "assessments/round_form.html", {
        "model": model, "engagement": model.engagement, "active": "performance", "form": form})


def _record(user, model: MigratedModel, data: dict) -> OptimisationRound:
    artifact = data.pop("artifact") or upload_artifact(
        actor=user, engagement=model.engagement, model=model, upload=data["upload"],
        purpose=Purpose.TUNING if model.optimisation_rounds.exists() else Purpose.BEFORE_TUNING)
    data.pop("upload")
    wait_until_read(artifact, data["profile"])
    return services.record_round(actor=user, model=model, artifact=artifact, **data)


def _round(request, pk: int) -> OptimisationRound:
    rows = OptimisationRound.objects.visible_to(request.user).select_related("model__engagement")
    return get_object_or_404(rows, pk=pk)


@require_POST
def round_keep(request, pk):
    """Keep or revert a change."""
    entry = _round(request, pk)
    attempt(request, lambda: services.set_round_kept(
        actor=request.user, entry=entry, is_kept=request.POST.get("kept") == "yes"), _("Saved."))
    return redirect("assessments:model_performance", entry.model_id)


@require_POST
def round_remove(request, pk):
    """Take back the newest round."""
    entry = _round(request, pk)
    attempt(request, lambda: services.remove_last_round(actor=request.user, entry=entry),
            _("Round undone; its files are kept."))
    return redirect("assessments:model_performance", entry.model_id)
