"""Pages of baselines."""

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from assessments import services
from assessments.forms import BaselineForm, FileForm, SignedSheetForm
from assessments.models import Baseline, BaselineRun
from assessments.services import baselines, plausibility
from assessments.services.confirmations import baseline_hash, confirmations
from assessments.views.lookups import form_page, to_criteria, visible_engagement
from assessments.views.signed_sheets import entered_sheet
from engagements.access import Can, allowed, require
from engagements.models import Engagement
from engagements.web.form_actions import attempt, attempt_form
from workers.artifacts.reading_state import wait_until_read
from workers.models import Purpose
from workers.services import upload_artifact


@require_http_methods(["GET", "POST"])
def baseline_new(request, code):
    """Record a reference from its raw file."""
    engagement = visible_engagement(request, code)
    require(request.user, Can.WORK, engagement)
    form = BaselineForm(request.POST or None, request.FILES or None, engagement=engagement,
                        initial=request.GET.dict())
    if form.is_valid() and attempt_form(form, lambda: _record_baseline(
            request.user, engagement, form.cleaned_data)):
        return to_criteria(code)
    return form_page(request, engagement, form, _("New baseline"))


def _record_baseline(user, engagement: Engagement, data: dict) -> Baseline:
    def stored(upload):
        return upload_artifact(actor=user, engagement=engagement, model=data["model"],
                               upload=upload, note=data["source"], purpose=Purpose.SOURCE)

    artifact = data["artifact"] or stored(data["upload"])
    repeats = [*data["stored_repeats"], *map(stored, data["repeats"])]
    for file in (artifact, *repeats):
        wait_until_read(file)
    return services.record_baseline(
        actor=user, model=data["model"], quantity=data["quantity"], artifact=artifact,
        environment=data["environment"], repeats=repeats,
        **{name: data[name] for name in ("source", "origin", "hardware", "software", "data_set",
                                         "seeds")})


def _baseline(request, pk: int) -> Baseline:
    rows = Baseline.objects.visible_to(request.user).select_related(
        "model__engagement", "artifact", "recorded_by")
    return get_object_or_404(rows, pk=pk)


@require_GET
def baseline(request, pk):
    """The sheet of a baseline: value, runs and spread, environment, confirmations."""
    row = _baseline(request, pk)
    engagement = row.model.engagement
    known = baseline_hash(row)
    return render(request, "assessments/baseline.html", {
        "baseline": row, "engagement": engagement, "active": "criteria",
        "runs": row.runs.select_related("artifact", "recorded_by"),
        "spread": baselines.spread(row), "is_curve": baselines.is_curve(row),
        "drifted": {run.pk for run in baselines.drifted(row)},
        "questions": plausibility.questions_about(row)
        if allowed(request.user, Can.VIEW_INTERNAL) and not row.frozen_at else [],
        "content_hash": known, "confirmations": confirmations(known, baseline=row),
        "may_confirm": not row.frozen_at and (
            allowed(request.user, Can.REVIEW) or allowed(request.user, Can.MANAGE)),
        "sheet_form": SignedSheetForm()
        if allowed(request.user, Can.MANAGE) and not row.frozen_at else None,
        "file_form": FileForm(engagement=engagement)
        if allowed(request.user, Can.WORK) else None})


@require_POST
def baseline_confirm(request, pk):
    """Confirm the sheet for one's own side, or enter the customer's signed one."""
    row = _baseline(request, pk)
    attempt(request, lambda: baselines.confirm_baseline(
        actor=request.user, baseline=row, **entered_sheet(request, row.model.engagement)),
            _("Baseline sheet confirmed."))
    return redirect("assessments:baseline", pk)


@require_POST
def baseline_explain(request, pk):
    """Say why a value that was asked about is right."""
    row = _baseline(request, pk)
    attempt(request, lambda: baselines.explain_baseline(
        actor=request.user, baseline=row, explanation=request.POST.get("explanation", "")),
            _("Explanation recorded."))
    return redirect("assessments:baseline", pk)


@require_POST
def baseline_run(request, pk):
    """Add a repeat or a re-measurement."""
    row = _baseline(request, pk)
    engagement = row.model.engagement
    form = FileForm(request.POST, request.FILES, engagement=engagement)
    if form.is_valid():
        attempt(request, lambda: _add_run(request.user, row, form.cleaned_data),
                _("Run read and added."))
    else:
        messages.error(request, _("Choose a stored file or upload one."))
    return redirect("assessments:baseline", pk)


def _add_run(user, row: Baseline, data: dict) -> BaselineRun:
    artifact = data["artifact"] or upload_artifact(
        actor=user, engagement=row.model.engagement, model=row.model, upload=data["upload"],
        purpose=Purpose.SOURCE)
    wait_until_read(artifact)
    return baselines.add_run(actor=user, baseline=row, artifact=artifact)
