"""Writes about baselines: record, repeat, re-measure, confirm (DOMAIN AR-04)."""

import math
from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.models import Baseline, BaselineRun, Criterion, MetricDefinition, Side
from assessments.presentation.quantity_labels import criterion_name, quantity_label
from assessments.queries import independent, recorded_runs
from assessments.services import plausibility
from assessments.services.confirmations import baseline_hash, confirm, signed_sheet_of
from assessments.services.measurements import judge_anew_without_source
from assessments.verdicts.computation import aligned_curves
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import MigratedModel, User
from engagements.text.text_joining import listed
from toolreaders.base import ReadError
from toolreaders.verdicts.quantities import LOSS_CURVE, quantities
from toolreaders.verdicts.sentences import in_unit
from toolreaders.verdicts.spread import FEWEST_RUNS, Spread, spread_of
from toolreaders.verdicts.verdict import curve_figures
from workers.artifacts.provenance import mark_source
from workers.artifacts.reading_state import require_read
from workers.models import Artifact

Calculator = MetricDefinition.Calculator


@transaction.atomic
def record_baseline(
    *, actor: User, model: MigratedModel, quantity: str, value: Decimal | None = None,
    unit: str = "", artifact: Artifact | None = None, environment: dict | None = None,
    source: str = "", hardware: str = "", software: str = "", data_set: str = "",
    seeds: str = "", origin: str = Baseline.Origin.MEASURED, repeats: Sequence[Artifact] = (),
) -> Baseline:
    """A reference with its raw file and its repeats; `origin` is one of `Baseline.Origin`.

    Verdicts that rested on these files are computed anew without them. The value is the
    file's own (`value` is not taken over); without one the file is the reference (a curve).
    Raises InvalidInput for a file that holds no such quantity and for an empty origin.
    """
    require(actor, Can.WORK, model.engagement)
    if artifact is None:
        raise InvalidInput(_("A baseline needs its raw file."))
    if origin not in Baseline.Origin.values:
        raise InvalidInput(_("State whether the baseline was measured or published."))
    found = _held(artifact, model, quantity)
    baseline = Baseline.objects.create(
        model=model, quantity=quantity, artifact=artifact, environment=environment or {},
        value=None if found is None else Decimal(repr(found)).quantize(Decimal("1e-10")),
        unit=unit, source=source, hardware=hardware, software=software, data_set=data_set,
        seeds=seeds, origin=origin, measured_at=artifact.created_at, recorded_by=actor)
    mark_source(artifact)
    audit_log.record(actor=actor, action="baseline.record", target=baseline,
                     engagement=model.engagement,
                     data={"sha256": artifact.sha256, "origin": origin})
    judge_anew_without_source(model.engagement, actor)
    for repeat in repeats:
        add_run(actor=actor, baseline=baseline, artifact=repeat)
    return baseline


def _held(artifact: Artifact, model: MigratedModel, quantity: str) -> float | None:
    """The quantity's value in the file; None for a curve."""
    if artifact.engagement_id != model.engagement_id:
        raise InvalidInput(_("The file belongs to another engagement."))
    require_read(artifact)
    found = {q.name: q.value for reading in artifact.readings.order_by("pk")
             for q in quantities(reading.kind, reading.values)}
    if quantity not in found:
        raise InvalidInput(_("The file holds no “%(quantity)s”; it holds: %(found)s.") % {
            "quantity": quantity_label(quantity),
            "found": listed(map(quantity_label, sorted(found))) or _("nothing readable")})
    return found[quantity]


@transaction.atomic
def add_run(*, actor: User, baseline: Baseline, artifact: Artifact) -> BaselineRun:
    """A repeat of the reference; of a frozen baseline a re-measurement outside its spread.

    The run's value is the quantity itself, of a curve its mean relative error against the
    baseline's own curve. Verdicts that rested on the file are computed anew without it. Raises
    InvalidInput for a run that is recorded already or not finite.
    """
    require(actor, Can.WORK, baseline.model.engagement)
    baseline = Baseline.objects.select_for_update(of=("self",), no_key=True).get(pk=baseline.pk)
    _require_new_run(baseline, artifact)
    value = _held(artifact, baseline.model, baseline.quantity)
    value = _curve_distance(baseline, artifact) if value is None else value
    if not math.isfinite(value):
        raise InvalidInput(_("The run holds values that are not finite."))
    run = BaselineRun.objects.create(
        baseline=baseline, artifact=artifact, value=value, recorded_by=actor,
        is_remeasurement=baseline.frozen_at is not None)
    mark_source(artifact)
    audit_log.record(actor=actor, action="baseline.run", target=baseline,
                     engagement=baseline.model.engagement,
                     data={"sha256": artifact.sha256, "value": value,
                           "is_remeasurement": run.is_remeasurement})
    judge_anew_without_source(baseline.model.engagement, actor)
    return run


def _require_new_run(baseline: Baseline, artifact: Artifact) -> None:
    """A file or a job counts once, as first run or repeat or as re-measurement."""
    known = [baseline, *baseline.runs.select_related("artifact")]
    new = BaselineRun(baseline=baseline, artifact=artifact)
    if new not in independent([*known, new]):
        raise InvalidInput(_("This run has already been recorded."))


def _curve_distance(baseline: Baseline, artifact: Artifact) -> float:
    try:
        aligned = aligned_curves(baseline.artifact, artifact)
    except ReadError as error:
        raise InvalidInput(error.message) from error
    error = curve_figures(aligned)["mean_relative_error"]
    return math.nan if error is None or aligned.nonfinite else error


def is_curve(baseline: Baseline) -> bool:
    return baseline.quantity.partition(":")[0] == LOSS_CURVE


def spread(baseline: Baseline) -> Spread | None:
    """The spread of the runs from before the freeze; of a curve that of its repeats from it."""
    repeats = baseline.runs.filter(is_remeasurement=False).values_list("value", flat=True)
    if is_curve(baseline):
        return spread_of(repeats, is_of_distances=True)
    return spread_of([] if baseline.value is None else [float(baseline.value), *repeats])


def scatter_question(baseline: Baseline) -> str:
    """Asked where the runs of a baseline lie further apart than half of what a criterion allows:
    noise alone may then decide it. Empty where they do not, or where that cannot be compared."""
    found = spread(baseline)
    for criterion in baseline.criteria.select_related("definition").order_by("-pk"):
        allowed_by = _allowed(criterion)
        scale = 1 if found is None or found.is_of_distances or (
            criterion.definition.calculator == Calculator.POINTS) else abs(found.mean)
        if found and allowed_by and scale and found.width / scale > allowed_by / 2:
            unit = criterion.definition.unit
            return _("The baseline's own runs lie %(width)s apart, more than half of what "
                     "“%(criterion)s” allows (%(limit)s): it cannot tell a difference from "
                     "noise.") % {
                "width": in_unit(Decimal(f"{found.width / scale:.3g}"), unit),
                "criterion": criterion_name(criterion), "limit": in_unit(allowed_by, unit)}
    return ""


def _allowed(criterion: Criterion) -> Decimal | None:
    """The difference to the baseline that a criterion lets pass, in its definition's unit; None
    where it is none that the spread of a baseline can be compared with."""
    definition, limit = criterion.definition, criterion.threshold
    if definition.calculator == Calculator.RATIO:
        return abs(1 - limit)
    is_relative = definition.unit == "%" and definition.calculator in (
        Calculator.LOSS_CURVE, Calculator.RELATIVE_ERROR, Calculator.DEGRADATION,
        Calculator.REDUCTION)
    return abs(limit) if is_relative or definition.calculator == Calculator.POINTS else None


plausibility.register(scatter_question)


def drifted(baseline: Baseline) -> list[BaselineRun]:
    """Re-measurements outside the recorded spread."""
    recorded = spread(baseline)
    return [run for run in baseline.runs.filter(is_remeasurement=True)
            if recorded and not recorded.holds(run.value)]


def require_repeatable(baseline: Baseline) -> None:
    """Raise InvalidInput for a baseline of fewer than three runs that is not frozen (R-ACC-08)."""
    runs = recorded_runs(baseline)
    if baseline.frozen_at is None and runs < FEWEST_RUNS:
        raise InvalidInput(ngettext(
            "The baseline “%(baseline)s” rests on %(n)d run; three runs or more show that it can "
            "be repeated. Add its repeats, then sign.",
            "The baseline “%(baseline)s” rests on %(n)d runs; three runs or more show that it can "
            "be repeated. Add its repeats, then sign.", runs) % {
            "baseline": f"{baseline.model.code} · {quantity_label(baseline.quantity)}", "n": runs})


@transaction.atomic
def confirm_baseline(*, actor: User, baseline: Baseline, signed_sheet: Artifact | None = None,
                     customer_signatory: str = "") -> Baseline:
    """One side confirms the sheet; the second confirmation freezes it.

    Args:
        signed_sheet: scan of the sheet that the customer signed on paper; a manager enters it.
        customer_signatory: the name on that sheet.

    Raises WrongState for a frozen baseline, NotAllowed for other roles, InvalidInput for one
    that was not repeated, whose unusual value nobody explained, and for a name without a scan.
    """
    sheet = signed_sheet_of(signed_sheet, customer_signatory)
    baseline = Baseline.objects.select_for_update(of=("self",), no_key=True).get(pk=baseline.pk)
    if baseline.frozen_at:
        raise WrongState(_("This baseline is already frozen."))
    require_repeatable(baseline)
    plausibility.require_answered(actor, baseline)
    sides = confirm(actor=actor, engagement=baseline.model.engagement, sheet=sheet,
                    content_hash=baseline_hash(baseline), baseline=baseline)
    if sides == set(Side.values):
        baseline.frozen_at = timezone.now()
        baseline.save(update_fields=["frozen_at"])
    audit_log.record(actor=actor, action="baseline.confirm", target=baseline,
                     engagement=baseline.model.engagement, data={"hash": baseline_hash(baseline)})
    return baseline


@transaction.atomic
def explain_baseline(*, actor: User, baseline: Baseline, explanation: str) -> Baseline:
    """Say why a value that was asked about is right. Writes an audit entry.

    Raises WrongState for a frozen baseline, InvalidInput without words.
    """
    require(actor, Can.WORK, baseline.model.engagement)
    baseline = Baseline.objects.select_for_update(of=("self",), no_key=True).get(pk=baseline.pk)
    if baseline.frozen_at:
        raise WrongState(_("This baseline is already frozen."))
    if not explanation.strip():
        raise InvalidInput(_("Say why the value is right."))
    baseline.explanation = explanation.strip()[:240]
    baseline.save(update_fields=["explanation"])
    audit_log.record(actor=actor, action="baseline.explain", target=baseline,
                     engagement=baseline.model.engagement,
                     data={"explanation": baseline.explanation})
    return baseline
