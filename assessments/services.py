"""Writes of this app. Each function owns its transaction, lock and audit entry."""

import hashlib
import json
from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.definitions import STANDARD
from assessments.judging import compute
from assessments.models import (
    Baseline,
    CriteriaSet,
    Criterion,
    Measurement,
    MetricDefinition,
    Verdict,
)
from assessments.quantities import quantities
from assessments.queries import current_criteria, measurements_of
from assessments.verdict import ENGINE_VERSION
from engagements import audit
from engagements.access import Can, require
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from workers.artifacts import finite_json, is_intact
from workers.models import Artifact


@transaction.atomic
def load_standard_definitions() -> None:
    """Make the catalogue's definitions exist; a version that exists is never changed."""
    for entry in STANDARD:
        MetricDefinition.objects.get_or_create(code=entry["code"], version=1, defaults=entry)


@transaction.atomic
def draft_criteria(*, actor: User, engagement: Engagement) -> CriteriaSet:
    """A new draft version of the criteria; copies the newest version if there is one.

    Raises WrongState while another draft is open.
    """
    require(actor, Can.MANAGE, engagement)
    newest = engagement.criteria_sets.first()
    if newest and newest.state == CriteriaSet.State.DRAFT:
        raise WrongState(_("There is an open draft already; sign it or go on with it."))
    draft = CriteriaSet.objects.create(engagement=engagement,
                                       version=newest.version + 1 if newest else 1)
    for old in newest.criteria.all() if newest else ():
        Criterion.objects.create(
            criteria_set=draft, model=old.model, definition=old.definition, stage=old.stage,
            threshold=old.threshold, baseline=old.baseline, position=old.position)
    audit.record(actor=actor, action="criteria.draft", target=draft, engagement=engagement)
    return draft


def _require_draft(criteria_set: CriteriaSet) -> None:
    if criteria_set.state != CriteriaSet.State.DRAFT:
        raise WrongState(_("Signed criteria are frozen; a change needs a new version."))


@transaction.atomic
def add_criterion(
    *, actor: User, criteria_set: CriteriaSet, model: MigratedModel,
    definition: MetricDefinition, stage: str, threshold: Decimal,
    baseline: Baseline | None = None,
) -> Criterion:
    """Add a threshold to a draft. `threshold` is a fraction for figures in per cent."""
    require(actor, Can.MANAGE, criteria_set.engagement)
    criteria_set = CriteriaSet.objects.select_for_update(of=("self",)).get(pk=criteria_set.pk)
    _require_draft(criteria_set)
    if model.engagement_id != criteria_set.engagement_id:
        raise InvalidInput(_("The model belongs to another engagement."))
    if baseline and baseline.model_id != model.pk:
        raise InvalidInput(_("The baseline belongs to another model."))
    if baseline and not baseline.serves(definition):
        raise InvalidInput(_("This baseline holds another quantity (%(quantity)s).")
                           % {"quantity": baseline.quantity})
    criterion = Criterion.objects.create(
        criteria_set=criteria_set, model=model, definition=definition, stage=stage,
        threshold=Decimal(threshold), baseline=baseline,
        position=criteria_set.criteria.filter(model=model).count())
    audit.record(actor=actor, action="criterion.add", target=criterion,
                 engagement=criteria_set.engagement, data={"threshold": str(threshold)})
    return criterion


@transaction.atomic
def remove_criterion(*, actor: User, criterion: Criterion) -> None:
    """Take a threshold out of a draft."""
    require(actor, Can.MANAGE, criterion.criteria_set.engagement)
    _require_draft(criterion.criteria_set)
    audit.record(actor=actor, action="criterion.remove", target=criterion,
                 engagement=criterion.criteria_set.engagement)
    criterion.delete()


@transaction.atomic
def record_baseline(
    *, actor: User, model: MigratedModel, quantity: str, value: Decimal | None = None,
    unit: str = "", artifact: Artifact | None = None, environment: dict | None = None,
    source: str = "",
) -> Baseline:
    """A reference with its raw file. Without a value the file is the reference (a curve).

    The value, where the file was read, must be the file's own.
    """
    require(actor, Can.WORK, model.engagement)
    if artifact is None:
        raise InvalidInput(_("A baseline needs its raw file."))
    if artifact.engagement_id != model.engagement_id:
        raise InvalidInput(_("The file belongs to another engagement."))
    found = _values_in(artifact)
    if quantity not in found:
        raise InvalidInput(_("The file holds no “%(quantity)s”; it holds: %(found)s.") % {
            "quantity": quantity, "found": ", ".join(sorted(found)) or _("nothing readable")})
    baseline = Baseline.objects.create(
        model=model, quantity=quantity, artifact=artifact, environment=environment or {},
        value=None if found[quantity] is None else Decimal(repr(found[quantity])).quantize(
            Decimal("1e-10")),
        unit=unit, source=source, measured_at=artifact.created_at, recorded_by=actor)
    audit.record(actor=actor, action="baseline.record", target=baseline,
                 engagement=model.engagement, data={"sha256": artifact.sha256})
    return baseline


def _values_in(artifact: Artifact) -> dict[str, float | None]:
    return {q.name: q.value for reading in artifact.readings.order_by("pk")
            for q in quantities(reading.kind, reading.values)}


@transaction.atomic
def sign_criteria(*, actor: User, criteria_set: CriteriaSet, customer_signatory: str
                  ) -> CriteriaSet:
    """Freeze the draft, its baselines and definitions, and supersede the version before.

    What is measured already is judged under the new set.

    Raises InvalidInput for an empty set, a criterion without the baseline it needs, or a
    baseline whose raw file is damaged.
    """
    require(actor, Can.MANAGE, criteria_set.engagement)
    criteria_set = CriteriaSet.objects.select_for_update(of=("self",)).get(pk=criteria_set.pk)
    _require_draft(criteria_set)
    if not customer_signatory.strip():
        raise InvalidInput(_("Say who signed for the customer."))
    _require_complete(criteria_set)
    now = timezone.now()
    criteria_set.engagement.criteria_sets.filter(state=CriteriaSet.State.SIGNED).update(
        state=CriteriaSet.State.SUPERSEDED)
    Baseline.objects.filter(criteria__criteria_set=criteria_set, frozen_at=None).update(
        frozen_at=now)
    criteria_set.state, criteria_set.signed_at = CriteriaSet.State.SIGNED, now
    criteria_set.signed_by, criteria_set.customer_signatory = actor, customer_signatory.strip()
    criteria_set.content_hash = content_hash(criteria_set)
    criteria_set.save()
    audit.record(actor=actor, action="criteria.sign", target=criteria_set,
                 engagement=criteria_set.engagement,
                 data={"hash": criteria_set.content_hash, "customer": customer_signatory})
    for criterion in criteria_set.criteria.all():
        if newest_measurement(criterion):
            judge_criterion(criterion, actor)
    return criteria_set


def _require_complete(criteria_set: CriteriaSet) -> None:
    criteria = list(criteria_set.criteria.select_related("definition", "baseline__artifact"))
    if not criteria:
        raise InvalidInput(_("There is no criterion to sign."))
    for criterion in criteria:
        if criterion.definition.calculator != MetricDefinition.Calculator.VALUE:
            if criterion.baseline is None:
                raise InvalidInput(_("%(criterion)s has no baseline.") % {"criterion": criterion})
            if not is_intact(criterion.baseline.artifact):
                raise InvalidInput(_("The raw file of the baseline of %(criterion)s is damaged.")
                                   % {"criterion": criterion})


def criteria_facts(criteria_set: CriteriaSet) -> list[dict]:
    """What is signed, as plain data: thresholds, whole definitions, baselines' checksums."""
    fields = [f.name for f in MetricDefinition._meta.fields if f.name != "id"]
    rows = criteria_set.criteria.select_related("model", "definition", "baseline__artifact")
    return [{
        "model": row.model.code, "stage": row.stage, "threshold": f"{row.threshold.normalize():f}",
        "definition": {name: getattr(row.definition, name) for name in fields},
        "baseline": row.baseline and {
            "quantity": row.baseline.quantity, "unit": row.baseline.unit,
            "value": None if row.baseline.value is None else f"{row.baseline.value.normalize():f}",
            "sha256": row.baseline.artifact.sha256},
    } for row in rows]


def content_hash(criteria_set: CriteriaSet) -> str:
    """SHA-256 of the signed facts."""
    text = json.dumps(criteria_facts(criteria_set), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@transaction.atomic
def measure_artifact(artifact: Artifact) -> list[Measurement]:
    """Record what the readings of a model's artifact measured. Safe to repeat."""
    if artifact.model is None:
        return []
    found = []
    for reading in artifact.readings.order_by("pk"):
        for quantity in quantities(reading.kind, reading.values):
            measurement, _created = Measurement.objects.get_or_create(
                artifact=artifact, quantity=quantity.name,
                reader_version=reading.reader_version,
                defaults={"model": artifact.model, "value": quantity.value, "unit": quantity.unit,
                          "job": artifact.job, "reader": reading.reader, "place": quantity.place,
                          "is_practice": artifact.is_practice})
            found.append(measurement)
    return found


@transaction.atomic
def judge_criterion(criterion: Criterion, actor: User | None = None) -> Verdict:
    """Compute a verdict from the stored raw files and keep it. The newest measurement counts."""
    measurement = newest_measurement(criterion)
    outcome = compute(criterion, measurement)
    verdict = Verdict.objects.create(
        criterion=criterion, measurement=measurement, outcome=outcome.outcome,
        figure=outcome.figure, reason=outcome.reason, engine_version=ENGINE_VERSION,
        facts=finite_json({"figures": outcome.figures, **outcome.facts}),
        is_practice=_is_practice(criterion, measurement))
    audit.record(actor=actor, action="verdict.compute", target=verdict,
                 engagement=criterion.criteria_set.engagement,
                 data={"outcome": verdict.outcome, "reason": verdict.reason})
    return verdict


@transaction.atomic
def measure_file(*, actor: User, model: MigratedModel, artifact: Artifact) -> list[Verdict]:
    """Take a stored file as a measurement of a model and judge the criteria it bears on.

    For logs that no job of ours brought, for example from the customer's own node. A file that
    belongs to no model becomes the model's.
    """
    require(actor, Can.WORK, model.engagement)
    if artifact.engagement_id != model.engagement_id:
        raise InvalidInput(_("The file belongs to another engagement."))
    if artifact.model_id not in (None, model.pk):
        raise InvalidInput(_("The file belongs to another model."))
    if artifact.baselines.filter(model=model).exists():
        raise InvalidInput(_("This file is the baseline; choose the file of the NPU run."))
    if artifact.model_id is None:
        artifact.model = model
        artifact.save(update_fields=["model"])
    measured = measure_artifact(artifact)
    if not measured:
        raise InvalidInput(_("Nothing that can be judged was found in the file."))
    audit.record(actor=actor, action="measurement.add", target=artifact,
                 engagement=model.engagement,
                 data={"sha256": artifact.sha256, "quantities": [m.quantity for m in measured]})
    return judge_affected(measured, actor)


def judge_affected(measured: list[Measurement], actor: User | None = None) -> list[Verdict]:
    """Compute anew what the measurements bear on, within the current criteria."""
    touched = {(m.model_id, m.quantity) for m in measured}
    sets = [current_criteria(model.engagement) for model in {m.model for m in measured}]
    rows = Criterion.objects.filter(
        criteria_set__in=[s for s in sets if s]).select_related("definition", "baseline")
    return [judge_criterion(row, actor) for row in rows
            if (row.model_id, row.quantity) in touched]


def newest_measurement(criterion: Criterion) -> Measurement | None:
    """The newest measurement of the criterion's quantity that is not the baseline itself."""
    return measurements_of(criterion).first()


def _is_practice(criterion: Criterion, measurement: Measurement | None) -> bool:
    baseline = criterion.baseline
    return bool((measurement and measurement.is_practice)
                or (baseline and baseline.artifact.is_practice))


def judge_engagement(engagement: Engagement, actor: User | None = None) -> list[Verdict]:
    """Compute all verdicts of the signed criteria anew."""
    signed = engagement.criteria_sets.filter(state=CriteriaSet.State.SIGNED).first()
    return [judge_criterion(c, actor) for c in signed.criteria.all()] if signed else []
