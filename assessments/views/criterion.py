"""The page of one criterion and its verdict."""

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from assessments import charts, queries, services
from assessments.accuracy import operators
from assessments.forms import FileForm, WaiverForm
from assessments.models import Criterion, Outcome, Verdict
from assessments.performance.gains import BY_NAME
from assessments.presentation import calculation, verdict_rows
from assessments.presentation.curve_pairs import finding_sentences
from assessments.services import baselines, waivers
from assessments.verdicts import runs
from assessments.verdicts.environments import ORDER, SAME, compared
from assessments.views.lookups import visible_criterion
from engagements.access import Can, allowed, require
from engagements.web.form_actions import attempt
from workers.artifacts.reading_state import wait_until_read
from workers.models import Artifact, Purpose
from workers.services import upload_artifact


@require_GET
def criterion(request, pk):
    """Definition → calculation → curve → raw files → job of one criterion."""
    row = visible_criterion(request, pk)
    engagement = row.criteria_set.engagement
    verdict, waiver = queries.newest_verdict(row), queries.waiver_of(row)
    can_work = allowed(request.user, Can.WORK)
    can_manage = allowed(request.user, Can.MANAGE)
    is_performance = row.definition.quantity in BY_NAME
    comparison = None if is_performance else operators.newest_comparison(row.model)
    environment = compared(row, verdict.measurement if verdict else None)
    return render(request, "assessments/criterion.html", {
        "criterion": row, "engagement": engagement, "active": "criteria", "verdict": verdict,
        "row": verdict_rows.Row.of(row, verdict),
        "figures": verdict_rows.figures(row, verdict),
        "findings": finding_sentences(verdict.facts) if verdict else [],
        "facts": verdict_rows.facts(verdict), "warnings": verdict_rows.warnings(verdict),
        "origin": verdict_rows.origin(verdict),
        "is_performance": is_performance, "comparison": comparison,
        "marked": operators.marked_rows(comparison) if comparison else {},
        "has_curve": charts.can_be_drawn(row, verdict),
        "step_rows": calculation.step_rows(verdict),
        "calculation": calculation.lines(row, verdict),
        "environment": [item for item in environment if item.state != SAME],
        "same": [item for item in environment if item.state == SAME], "can_manage": can_manage,
        "can_review": can_manage or allowed(request.user, Can.REVIEW),
        "has_open": any(item.state == "differs" for item in environment),
        "customers_item": "" if allowed(request.user, Can.REVIEW) else ORDER,
        "all_runs": runs.all_runs(row, verdict),
        "drifted": baselines.drifted(row.baseline) if row.baseline else [],
        "spread": baselines.spread(row.baseline) if row.baseline else None,
        "scatter": baselines.scatter_question(row.baseline) if row.baseline else "",
        "waivers": row.waivers.select_related("drafted_by", "signed_by", "revoked_by"),
        "to_sign": waivers.to_sign(request.user, row),
        "waiver": waiver, "waiver_form": WaiverForm(),
        "can_waive": bool(can_work and verdict and verdict.outcome == Outcome.FAILED
                          and row.criteria_set.signed_at and not waiver),
        "history": row.verdicts.select_related("measurement__artifact")[:20],
        "file_form": FileForm(engagement=engagement) if can_work else None})


@require_POST
def criterion_judge(request, pk):
    """Compute the verdict anew from the raw files."""
    row = visible_criterion(request, pk)
    require(request.user, Can.WORK, row.criteria_set.engagement)
    attempt(request, lambda: services.judge_criterion(row, request.user),
            _("The verdict was recomputed from the raw files."))
    return redirect("assessments:criterion", pk)


@require_POST
def criterion_measure(request, pk):
    """Judge a stored or uploaded file as a measurement of the criterion's model."""
    row = visible_criterion(request, pk)
    engagement = row.criteria_set.engagement
    form = FileForm(request.POST, request.FILES, engagement=engagement)
    if form.is_valid():
        judged = []
        attempt(request, lambda: judged.append(_measure(request.user, row, form.cleaned_data)),
                lambda: "\n".join(verdict_rows.told(*judged[0])))
    else:
        messages.error(request, " ".join(
            error for errors in form.errors.values() for error in errors))
    return redirect("assessments:criterion", pk)


def _measure(user, row: Criterion, data: dict) -> tuple[list[Verdict], Artifact]:
    artifact = data["artifact"] or upload_artifact(
        actor=user, engagement=row.criteria_set.engagement, model=row.model,
        upload=data["upload"], purpose=Purpose.ACCEPTANCE)
    wait_until_read(artifact)
    return services.measure_file(actor=user, model=row.model, artifact=artifact), artifact


@require_POST
def criterion_waive(request, pk):
    """Draft a waiver."""
    row = visible_criterion(request, pk)
    form = WaiverForm(request.POST)
    if form.is_valid():
        attempt(request, lambda: waivers.draft_waiver(
            actor=request.user, criterion=row, **form.cleaned_data),
                _("Waiver drafted; someone else has to sign it."))
    else:
        messages.error(request, _("A waiver needs a reason, a scope and its last day."))
    return redirect("assessments:criterion", pk)


@require_POST
def waiver_sign(request, pk, waiver):
    """Sign a drafted waiver."""
    row = visible_criterion(request, pk)
    found = get_object_or_404(row.waivers, pk=waiver)
    attempt(request, lambda: waivers.sign_waiver(actor=request.user, waiver=found),
            _("Waiver signed. The verdict is unchanged."))
    return redirect("assessments:criterion", pk)


@require_POST
def waiver_revoke(request, pk, waiver):
    """End a waiver."""
    row = visible_criterion(request, pk)
    found = get_object_or_404(row.waivers, pk=waiver)
    attempt(request, lambda: waivers.revoke_waiver(actor=request.user, waiver=found),
            _("Waiver revoked."))
    return redirect("assessments:criterion", pk)


@require_POST
def criterion_accept(request, pk):
    """Accept differences of the two environments and judge anew."""
    row = visible_criterion(request, pk)
    attempt(request, lambda: services.accept_and_judge(
        actor=request.user, criterion=row, items=request.POST.getlist("items"),
        reason=request.POST.get("reason", "")),
            _("Differences accepted; verdicts recomputed."))
    return redirect("assessments:criterion", pk)
