"""What of a run people have to accept before its verdict counts: differences to the baseline's
environment (DOMAIN AR-05, R-ACC-02), and a criterion that was frozen after the run began."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from assessments.labels.environments import item_name
from assessments.models import AcceptedDifference, Baseline, Criterion, Measurement
from assessments.queries import of_target
from engagements.remembered_reads import remembered
from toolreaders.verdicts.selection import AGREED_LATER
from workers.artifacts import provenance
from workers.artifacts.provenance import Provenance
from workers.models import Artifact, Job
from workers.runtimes import software

ORDER = AGREED_LATER  # the item of the order in time, among the accepted differences

SAME, DIFFERS, ACCEPTED, ONE_SIDED = "same", "differs", "accepted", "one_sided"


@dataclass(frozen=True)
class Item:
    """One fact on both sides; `accepted` holds who accepts the difference, and why."""

    name: str
    baseline: str
    candidate: str
    state: str
    accepted: AcceptedDifference | None = None


def compared(criterion: Criterion, measurement: Measurement | None) -> list[Item]:
    """All facts that either side records. A fact of one side only is shown, never judged. Last
    comes the order in time, where the run began before what it is judged by was frozen."""
    source, target = (of_baseline(criterion.baseline), of_run(measurement)) if (
        criterion.baseline) else ({}, {})
    known = _accepted(criterion.criteria_set.engagement_id)
    found = [_item(name, source.get(name, ""), target.get(name, ""), known)
             for name in sorted(source.keys() | target.keys())]
    since = frozen_since(criterion)
    began = began_at(measurement.artifact) if measurement and since else None
    if began and began < since:
        # whole: cut to seconds, a run that began just before would read as one at the same time
        found.append(_item(ORDER, since.isoformat(), began.isoformat(), known))
    return found


@remembered
def _accepted(engagement: int) -> dict[tuple[str, str, str], AcceptedDifference]:
    """By item and both values."""
    return {(item_name(row.item), row.baseline_value, row.candidate_value): row
            for row in AcceptedDifference.objects.filter(
                engagement=engagement).select_related("accepted_by")}


@remembered
def frozen_since(criterion: Criterion) -> datetime | None:
    """Since when the signed versions of the criteria hold this criterion unchanged, with baseline
    and definition; None for a draft. What a signature freezes is never younger than it."""
    sets = list(criterion.criteria_set.engagement.criteria_sets.filter(
        signed_at__isnull=False, version__lte=criterion.criteria_set.version).order_by(
            "-version").values_list("pk", "signed_at"))
    alike = {criterion.criteria_set_id}
    if any(pk not in alike for pk, _at in sets):
        alike |= set(Criterion.objects.filter(
            criteria_set__in=[pk for pk, _at in sets], model=criterion.model,
            definition=criterion.definition, baseline=criterion.baseline, point=criterion.point,
            threshold=criterion.threshold, selection=criterion.selection,
            runs=criterion.runs).values_list("criteria_set", flat=True))
    since = None
    for pk, signed_at in sets:
        if pk not in alike:
            break
        since = signed_at
    return since


def began_at(artifact: Artifact) -> datetime:
    """When the run behind a file began, as far as is recorded: when its job was started; of an
    upload when its content first came. What the server computed is as old as the files of the
    target that it was computed from."""
    return began_of(provenance.of(artifact))


def began_of(known: Provenance) -> datetime:
    """The same of a file of which it is known already."""
    artifact, job = known.artifact, known.job
    if job is None:
        return min(row.created_at for row in known.copies
                   if row.engagement_id == artifact.engagement_id)
    if job.node_id is None and job.nodes_wanted == 1:
        given = of_target(job.inputs.exclude(artifact=None)).select_related("artifact")
        if times := [began_at(row.artifact) for row in given if row.artifact_id != artifact.pk]:
            return min(times)
    return job.started_at or job.created_at


def _item(name: str, baseline: str, candidate: str, known: dict) -> Item:
    if not (baseline and candidate):
        return Item(name, baseline, candidate, ONE_SIDED)
    if baseline.casefold() == candidate.casefold():
        return Item(name, baseline, candidate, SAME)
    accepted = known.get((name, baseline, candidate))
    return Item(name, baseline, candidate, ACCEPTED if accepted else DIFFERS, accepted)


def unreviewed(criterion: Criterion, measurement: Measurement | None) -> Iterator[Item]:
    """Differences that nobody has accepted; none where nothing was measured."""
    if measurement is None:
        return iter(())
    return (item for item in compared(criterion, measurement) if item.state == DIFFERS)


def of_baseline(baseline: Baseline | None) -> dict[str, str]:
    return _plain(baseline.environment) if baseline else {}


def of_run(measurement: Measurement | None) -> dict[str, str]:
    """The environment of the job that made a measurement."""
    return of_job(measurement.job if measurement else None)


def of_job(job: Job | None) -> dict[str, str]:
    """What the node reported of itself, and the cards that the job asked for."""
    if not (job and job.node):
        return {}
    return _plain({"chip": software.chips_of(job.node), "cards": job.cards_wanted or "",
                   **software.of_job(job)})


def _plain(facts: dict) -> dict[str, str]:
    """Facts as short text, each under its one name; empty ones are left out."""
    return {item_name(name): _text(value)[:240]
            for name, value in (facts or {}).items() if value not in (None, "", [], {})}


def _text(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in sorted(value.items()))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
