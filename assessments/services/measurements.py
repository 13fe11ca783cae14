"""Measurements from stored files, and the verdicts that are computed from them."""

import math

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from assessments.models import (
    Baseline,
    BaselineRun,
    CriteriaSet,
    Criterion,
    Measurement,
    Verdict,
)
from assessments.queries import (
    counted,
    current_criteria,
    latest_verdicts,
    measured_on_target,
    measurements_of,
    of_agents,
    of_target,
    runs_of,
    why_not_counted,
)
from assessments.services.waivers import accept_open_differences
from assessments.verdicts.computation import compute
from assessments.verdicts.runs import figures_left_out
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, MigratedModel, User
from toolreaders.verdicts.quantities import quantities
from toolreaders.verdicts.verdict import ENGINE_VERSION
from toolreaders.verdicts.verdict import Outcome as Computed
from workers.artifacts import provenance
from workers.artifacts.artifact_store import finite_json
from workers.artifacts.reading_state import require_read
from workers.models import Artifact, Job, Purpose


@transaction.atomic
def measure_artifact(artifact: Artifact) -> list[Measurement]:
    """Keep what the readings of a model's artifact measured, with one entry in the audit log for
    what is new. Safe to repeat."""
    if artifact.model is None:
        return []
    known, found, is_new = provenance.of(artifact), [], False
    for reading in artifact.readings.order_by("pk"):
        for quantity in quantities(reading.kind, reading.values):
            measurement, created = Measurement.objects.get_or_create(
                artifact=artifact, quantity=quantity.name,
                reader_version=reading.reader_version,
                defaults={"model": artifact.model, "value": _storable(quantity.value),
                          "unit": quantity.unit, "job": artifact.job or known.job,
                          "reader": reading.reader, "place": quantity.place,
                          "is_practice": known.is_practice})
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


def measure_unproven_job(*, job: Job, **_signal) -> None:
    """The same of a job that ended as it should and showed no NPU: its figures are not provable,
    and the verdict says why."""
    measure_job(job=job)


def judge_corrected(*, artifact: Artifact, actor: User, **_signal) -> None:
    """Judge anew what the file bears on, as its purpose is another one now.

    Raises InvalidInput where a baseline rests on the file and it is to be none of the source
    platform.
    """
    copies = provenance.copies_of(artifact).filter(engagement=artifact.engagement_id)
    if not provenance.is_of_source(artifact) and (
            Baseline.objects.filter(artifact__in=copies).exists()
            or BaselineRun.objects.filter(artifact__in=copies).exists()):
        raise InvalidInput(_("A baseline rests on this file: it is of the source platform."))
    judge_affected(list(Measurement.objects.filter(artifact__in=copies)), actor)


def judge_criterion(criterion: Criterion, actor: User | None = None) -> Verdict:
    """Compute a verdict from the stored raw files and keep it. The newest measurement counts.

    The files are read before the transaction begins, unless the caller's is open already.
    """
    measurement = newest_measurement(criterion)
    outcome = compute(criterion, measurement)
    outcome.facts["left_out"] = figures_left_out(
        criterion, {run["artifact"] for run in outcome.facts.get("runs", ())})
    return _keep_verdict(criterion, measurement, outcome, actor)


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
    artifact.refresh_from_db(fields=["content_sha256", "is_practice"])  # known since it was read
    require_counted(artifact)
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


def require_counted(artifact: Artifact) -> None:
    """Raise InvalidInput that says why the file judges no criterion. What a trial made that showed
    no NPU, and a copy of a baseline, are judged: the verdict says what they are."""
    if not (why := why_not_counted(artifact)) or provenance.of(artifact).is_without_device:
        return
    own_purpose = artifact.job.purpose if artifact.job else artifact.purpose
    if own_purpose == Purpose.SOURCE or not Baseline.objects.filter(
            model__engagement=artifact.engagement_id,
            artifact__in=provenance.copies_of(artifact)).exists():
        raise InvalidInput(why)


def judge_anew_without_source(engagement: Engagement, actor: User) -> list[Verdict]:
    """Judge anew what rests on a file that has since become one of the source platform."""
    judged = [(criterion, verdict.measurement_id)
              for criterion, verdict in latest_verdicts(engagement) if verdict]
    of_the_target = set(of_target(Measurement.objects.filter(
        pk__in=[key for _criterion, key in judged])).values_list("pk", flat=True))
    return [judge_criterion(criterion, actor) for criterion, key in judged
            if key and key not in of_the_target]


def judge_affected(measured: list[Measurement], actor: User | None = None) -> list[Verdict]:
    """Compute anew what the measurements bear on, within the current criteria."""
    touched = {(m.model_id, m.quantity) for m in measured}
    sets = [current_criteria(model.engagement) for model in {m.model for m in measured}]
    rows = Criterion.objects.filter(
        criteria_set__in=[s for s in sets if s]).select_related("definition", "baseline")
    return [judge_criterion(row, actor) for row in rows
            if (row.model_id, row.quantity) in touched]


def newest_measurement(criterion: Criterion) -> Measurement | None:
    """The measurement of the newest run that may count for the criterion; where none may, that of
    a trial that showed no NPU, or that an agent declares, whose verdict says so."""
    trials = counted(measured_on_target(criterion), is_counted=False)
    no_npu = provenance.has_copy("artifact", job__results__not_provable=provenance.NO_DEVICE)
    return next(iter(runs_of(measurements_of(criterion))), None) or trials.filter(
        Q(no_npu) | of_agents()).first()


def _is_practice(criterion: Criterion, measurement: Measurement | None, outcome: Computed) -> bool:
    """Whether any file that the verdict rests on is practice data."""
    files = {run["artifact"] for run in outcome.facts.get("runs", ())}
    files |= {row.artifact_id for row in (measurement, criterion.baseline) if row}
    return any(provenance.of(file).is_practice for file in Artifact.objects.filter(pk__in=files))


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
