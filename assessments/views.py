"""Pages of criteria, baselines and verdicts: doors that parse, call one service and answer."""

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from assessments import charts, presentation, queries, services
from assessments.forms import BaselineForm, CriterionForm, FileForm, SignForm
from assessments.models import Baseline, CriteriaSet, Criterion, MetricDefinition
from engagements.access import Can, allowed, require
from engagements.doors import attempt, attempt_form
from engagements.models import Engagement
from workers.readers.base import ReadError
from workers.services import upload_artifact


def _engagement(request, code: str) -> Engagement:
    return get_object_or_404(Engagement.objects.visible_to(request.user), code=code)


def _criterion(request, pk: int) -> Criterion:
    rows = Criterion.objects.visible_to(request.user).select_related(
        "criteria_set__engagement", "model", "definition", "baseline__artifact")
    return get_object_or_404(rows, pk=pk)


def _open_draft(engagement: Engagement) -> CriteriaSet:
    draft = engagement.criteria_sets.filter(state=CriteriaSet.State.DRAFT).first()
    if draft is None:
        raise Http404
    return draft


@require_GET
def criteria(request, code):
    """The criteria of an engagement: models × thresholds with their verdicts."""
    engagement = _engagement(request, code)
    shown_set = _chosen_set(engagement, request.GET.get("version"))
    return render(request, "assessments/criteria.html", {
        "engagement": engagement, "active": "criteria", "criteria_set": shown_set,
        "sets": engagement.criteria_sets.all(),
        "rows": presentation.rows(queries.verdicts_of(shown_set)) if shown_set else [],
        "baselines": Baseline.objects.filter(model__engagement=engagement).select_related(
            "model", "artifact", "recorded_by"),
        "sign_form": SignForm()})


def _chosen_set(engagement: Engagement, version: str | None) -> CriteriaSet | None:
    if version and version.isdigit():
        return get_object_or_404(engagement.criteria_sets, version=version)
    return queries.current_criteria(engagement)


@require_POST
def criteria_draft(request, code):
    """Begin a new version."""
    engagement = _engagement(request, code)
    draft = attempt(request, lambda: services.draft_criteria(
        actor=request.user, engagement=engagement), _("A draft was begun."))
    return _to_criteria(code, draft)


def _to_criteria(code: str, criteria_set: CriteriaSet | None = None) -> HttpResponse:
    answer = redirect("assessments:criteria", code)
    if criteria_set:
        answer["Location"] += f"?version={criteria_set.version}"
    return answer


@require_http_methods(["GET", "POST"])
def criterion_new(request, code):
    """Add a threshold to the open draft."""
    engagement = _engagement(request, code)
    require(request.user, Can.MANAGE, engagement)
    draft = _open_draft(engagement)
    form = CriterionForm(request.POST or None, engagement=engagement)
    if form.is_valid() and attempt_form(form, lambda: services.add_criterion(
            actor=request.user, criteria_set=draft, **form.cleaned_data)):
        return _to_criteria(code, draft)
    return _form(request, engagement, form, _("New criterion"))


@require_POST
def criterion_remove(request, pk):
    """Take a threshold out of the draft."""
    row = _criterion(request, pk)
    attempt(request, lambda: services.remove_criterion(actor=request.user, criterion=row),
            _("The criterion was taken out."))
    return _to_criteria(row.criteria_set.engagement.code, row.criteria_set)


@require_POST
def criteria_sign(request, code):
    """Freeze the open draft."""
    engagement = _engagement(request, code)
    form = SignForm(request.POST)
    name = form.cleaned_data["customer_signatory"] if form.is_valid() else ""
    attempt(request, lambda: services.sign_criteria(
        actor=request.user, criteria_set=_open_draft(engagement), customer_signatory=name),
        _("Signed. The criteria are frozen."))
    return _to_criteria(code)


@require_POST
def criteria_judge(request, code):
    """Compute every verdict of the signed criteria anew."""
    engagement = _engagement(request, code)
    require(request.user, Can.WORK, engagement)
    attempt(request, lambda: services.judge_engagement(engagement, request.user),
            _("All verdicts were computed anew from the raw files."))
    return _to_criteria(code)


@require_http_methods(["GET", "POST"])
def baseline_new(request, code):
    """Record a reference from its raw file."""
    engagement = _engagement(request, code)
    require(request.user, Can.WORK, engagement)
    form = BaselineForm(request.POST or None, request.FILES or None, engagement=engagement)
    if form.is_valid() and attempt_form(form, lambda: _record_baseline(
            request.user, engagement, form.cleaned_data)):
        return _to_criteria(code)
    return _form(request, engagement, form, _("New baseline"))


def _record_baseline(user, engagement: Engagement, data: dict) -> Baseline:
    artifact = data["artifact"] or upload_artifact(
        actor=user, engagement=engagement, model=data["model"], upload=data["upload"],
        note=data["source"])
    return services.record_baseline(
        actor=user, model=data["model"], quantity=data["quantity"], artifact=artifact,
        environment=data["environment"], source=data["source"])


def _form(request, engagement: Engagement, form, title: str) -> HttpResponse:
    return render(request, "assessments/form.html", {
        "engagement": engagement, "active": "criteria", "form": form, "title": title})


@require_GET
def criterion(request, pk):
    """Definition → calculation → curve → raw files → job of one criterion."""
    row = _criterion(request, pk)
    engagement = row.criteria_set.engagement
    verdict = queries.newest_verdict(row)
    can_work = allowed(request.user, Can.WORK)
    return render(request, "assessments/criterion.html", {
        "criterion": row, "engagement": engagement, "active": "criteria", "verdict": verdict,
        "row": presentation.Row.of(row, verdict),
        "figures": presentation.figures(row, verdict),
        "facts": presentation.facts(verdict), "warnings": presentation.warnings(verdict),
        "has_curve": charts.can_be_drawn(row, verdict),
        "history": row.verdicts.select_related("measurement__artifact")[:20],
        "runs": queries.measurements_of(row).count(),
        "file_form": FileForm(engagement=engagement) if can_work else None})


@require_POST
def criterion_judge(request, pk):
    """Compute the verdict anew from the raw files."""
    row = _criterion(request, pk)
    require(request.user, Can.WORK, row.criteria_set.engagement)
    attempt(request, lambda: services.judge_criterion(row, request.user),
            _("The verdict was computed anew from the raw files."))
    return redirect("assessments:criterion", pk)


@require_POST
def criterion_measure(request, pk):
    """Judge a stored or uploaded file as a measurement of the criterion's model."""
    row = _criterion(request, pk)
    engagement = row.criteria_set.engagement
    form = FileForm(request.POST, request.FILES, engagement=engagement)
    if form.is_valid():
        attempt(request, lambda: _measure(request.user, row, form.cleaned_data),
                _("The file was read and judged."))
    else:
        messages.error(request, " ".join(
            error for errors in form.errors.values() for error in errors))
    return redirect("assessments:criterion", pk)


def _measure(user, row: Criterion, data: dict) -> list:
    artifact = data["artifact"] or upload_artifact(
        actor=user, engagement=row.criteria_set.engagement, model=row.model,
        upload=data["upload"])
    return services.measure_file(actor=user, model=row.model, artifact=artifact)


def _chart_parts(request, pk: int):
    row = _criterion(request, pk)
    verdict = queries.newest_verdict(row)
    if not charts.can_be_drawn(row, verdict):
        raise Http404
    return row, verdict


@require_GET
def curve_spec(request, pk):
    """The chart as a Vega-Lite specification."""
    row, verdict = _chart_parts(request, pk)
    try:
        return JsonResponse(charts.criterion_chart_spec(row, verdict))
    except ReadError as error:
        raise Http404(error.message) from error


@require_GET
def curve_svg(request, pk):
    """The chart as a picture, for browsers without scripts and for download."""
    row, verdict = _chart_parts(request, pk)
    try:
        svg = charts.criterion_chart_svg(row, verdict)
    except ReadError as error:
        raise Http404(error.message) from error
    return HttpResponse(svg, content_type="image/svg+xml")


@require_GET
def definitions(request):
    """All metric definitions."""
    return render(request, "assessments/definitions.html", {
        "definitions": MetricDefinition.objects.all()})


@require_GET
def definition(request, pk):
    """One definition, and where the user's engagements use it."""
    found = get_object_or_404(MetricDefinition, pk=pk)
    used = Criterion.objects.visible_to(request.user).filter(definition=found).select_related(
        "criteria_set__engagement", "model")
    return render(request, "assessments/definition.html", {"definition": found, "used": used})
