"""Measurements from stored files, and the verdicts that are computed from them."""

import math

from django.db import transaction
from django.utils.translation import gettext as _

from assessments.models import CriteriaSet, Criterion, Measurement, Verdict
from assessments.queries import current_criteria, latest_verdicts, measurements_of, of_source
from assessments.services.waivers import accept_open_differences
from assessments.verdicts.computation import compute
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, MigratedModel, User
from toolreaders.verdicts.quantities import quantities
from toolreaders.verdicts.verdict import ENGINE_VERSION
from toolreaders.verdicts.verdict import Outcome as Computed
from workers.artifacts.artifact_store import finite_json
from workers.artifacts.reading_state import require_read
from workers.models import Artifact, Job


@transaction.atomic
def measure_artifact(artifact: Artifact) -> list[Measurement]:
    """Keep what the readings of a model's artifact measured, with one entry in the audit log for
    what is new. Safe to repeat."""
    if artifact.model is None:
        return []
    found, is_new = [], False
    for reading in artifact.readings.order_by("pk"):
        for quantity in quantities(reading.kind, reading.values):
            measurement, created = Measurement.objects.get_or_create(
                artifact=artifact, quantity=quantity.name,
                reader_version=reading.reader_version,
                defaults={"model": artifact.model, "value": _storable(quantity.value),
                          "unit": quantity.unit, "job": artifact.job, "reader": reading.reader,
                          "place": quantity.place, "is_practice": artifact.is_practice})
            found.append(measurement)
            is_new |= created
    if is_new:
        audit_log.record(actor=None, action="measurement.read", target=artifact,
                     engagement=artifact.model.engagement,
                     data={"sha256": artifact.sha256, "quantities": [m.quantity for m in found]})
    return found


def _storable(value: float | None) -> float | None:
    """A value that is not finite is none; the verdict reads the raw file and fails it."""
    return value if value is not None and math.isfinite(value) else None


def measure_job(*, job: Job, **_signal) -> None:
    """Record what the files of a job that succeeded measured, and judge the current criteria they
    touch.

    A regression run is measured, and compared by who started it; it judges nothing.
    """
    if job.model is None:
        return
    measured = [m for artifact in job.artifacts.all() for m in measure_artifact(artifact)]
    if not job.is_regression:
        judge_affected(measured)


def judge_criterion(criterion: Criterion, actor: User | None = None) -> Verdict:
    """Compute a verdict from the stored raw files and keep it. The newest measurement counts.

    The files are read before the transaction begins, unless the caller's is open already.
    """
    measurement = newest_measurement(criterion)
    return _keep_verdict(criterion, measurement, compute(criterion, measurement), actor)


@transaction.atomic
def _keep_verdict(criterion: Criterion, measurement: Measurement | None, outcome: Computed,
                  actor: User | None) -> Verdict:
    verdict = Verdict.objects.create(
        criterion=criterion, measurement=measurement, outcome=outcome.outcome,
        figure=outcome.figure, reason=outcome.reason, engine_version=ENGINE_VERSION,
        facts=finite_json({"figures": outcome.figures, **outcome.facts}),
        is_practice=_is_practice(criterion, measurement, outcome))
    audit_log.record(actor=actor, action="verdict.compute", target=verdict,
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
    require_of_target(artifact)
    if artifact.model_id is None:
        artifact.model = model
        artifact.save(update_fields=["model"])
    require_read(artifact)
    measured = measure_artifact(artifact)
    if not measured:
        raise InvalidInput(_("Nothing that can be judged was found in the file."))
    audit_log.record(actor=actor, action="measurement.add", target=artifact,
                     engagement=model.engagement,
                     data={"sha256": artifact.sha256, "quantities": [m.quantity for m in measured]})
    return judge_affected(measured, actor)


def require_of_target(artifact: Artifact) -> None:
    """Raise InvalidInput for a file of the source platform."""
    if of_source(Artifact.objects.filter(pk=artifact.pk), file="").exists():
        raise InvalidInput(_(
            "This file is from the source platform: a baseline, a repeat of one or what came with "
            "them. Choose the file of the NPU run."))


def judge_anew_without_source(engagement: Engagement, actor: User) -> list[Verdict]:
    """Judge anew what rests on a file that has since become one of the source platform."""
    judged = [(criterion, verdict.measurement_id)
              for criterion, verdict in latest_verdicts(engagement) if verdict]
    source = set(of_source(Measurement.objects.filter(
        pk__in=[key for _criterion, key in judged])).values_list("pk", flat=True))
    return [judge_criterion(criterion, actor) for criterion, key in judged if key in source]


def judge_affected(measured: list[Measurement], actor: User | None = None) -> list[Verdict]:
    """Compute anew what the measurements bear on, within the current criteria."""
    touched = {(m.model_id, m.quantity) for m in measured}
    sets = [current_criteria(model.engagement) for model in {m.model for m in measured}]
    rows = Criterion.objects.filter(
        criteria_set__in=[s for s in sets if s]).select_related("definition", "baseline")
    return [judge_criterion(row, actor) for row in rows
            if (row.model_id, row.quantity) in touched]


def newest_measurement(criterion: Criterion) -> Measurement | None:
    """The newest measurement of the criterion's quantity on the target platform."""
    return measurements_of(criterion).first()


def _is_practice(criterion: Criterion, measurement: Measurement | None, outcome: Computed) -> bool:
    """Whether any file that the verdict rests on is practice data."""
    files = {run["artifact"] for run in outcome.facts.get("runs", ())}
    files |= {row.artifact_id for row in (measurement, criterion.baseline) if row}
    return Artifact.objects.filter(pk__in=files, is_practice=True).exists()


@transaction.atomic
def accept_and_judge(*, actor: User, criterion: Criterion, items: list[str], reason: str
                     ) -> Verdict:
    """Accept differences of the environments, then judge the model's criteria anew.

    Returns the criterion's new verdict. Raises InvalidInput where none of the items is open.
    """
    accept_open_differences(actor=actor, criterion=criterion, items=items, reason=reason)
    rows = criterion.criteria_set.criteria.filter(model=criterion.model)
    verdicts = [judge_criterion(row, actor) for row in rows if newest_measurement(row)]
    return next(v for v in verdicts if v.criterion_id == criterion.pk)


def judge_engagement(engagement: Engagement, actor: User | None = None) -> list[Verdict]:
    """Compute all verdicts of the signed criteria anew."""
    signed = engagement.criteria_sets.filter(state=CriteriaSet.State.SIGNED).first()
    return [judge_criterion(c, actor) for c in signed.criteria.all()] if signed else []
