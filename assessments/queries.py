"""Queries shared by pages and API."""

from collections.abc import Iterable, Iterator
from functools import cache

from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, When
from django.utils import timezone
from django.utils.translation import gettext

from assessments.labels.verdict_sentences import sentence
from assessments.models import (
    Baseline,
    BaselineRun,
    CriteriaSet,
    Criterion,
    Measurement,
    Outcome,
    Side,
    Verdict,
    Waiver,
)
from engagements.models import Engagement, MigratedModel
from workers import kinds
from workers.artifacts import provenance
from workers.models import Artifact, Purpose, StoredReading

Recorded = Baseline | BaselineRun | Measurement
COMPARISON_READERS = ("msprobe_compare", "msprobe_compare_json", "msaccucmp_compare")


def current_criteria(engagement: Engagement) -> CriteriaSet | None:
    """The signed criteria; where none is signed, the draft."""
    sets = engagement.criteria_sets
    return sets.filter(state=CriteriaSet.State.SIGNED).first() or sets.first()


def latest_verdicts(engagement: Engagement, model: MigratedModel | None = None
                    ) -> list[tuple[Criterion, Verdict | None]]:
    """Each criterion of the current set with its newest verdict, in order of models."""
    current = current_criteria(engagement)
    return verdicts_of(current, model) if current else []


def verdicts_of(criteria_set: CriteriaSet, model: MigratedModel | None = None
                ) -> list[tuple[Criterion, Verdict | None]]:
    """Each criterion of a set with its newest verdict, in order of models."""
    rows = criteria_set.criteria.select_related("model", "definition", "baseline__artifact")
    if model:
        rows = rows.filter(model=model)
    rows = list(rows)
    newest: dict[int, Verdict] = {}
    for verdict in Verdict.objects.filter(criterion__in=rows).order_by("pk").select_related(
            "measurement__artifact", "measurement__job__node"):
        newest[verdict.criterion_id] = verdict
    return [(row, newest.get(row.pk)) for row in rows]


def failed_signed_criteria(engagement: Engagement, model: MigratedModel | None = None
                           ) -> list[tuple[Criterion, Verdict]]:
    """Criteria of the signed set that fail today and that no waiver in force covers, with their
    newest verdicts; also those that a change tightened after their stage had passed."""
    signed = engagement.criteria_sets.filter(state=CriteriaSet.State.SIGNED).first()
    return [(criterion, verdict) for criterion, verdict in (
        verdicts_of(signed, model) if signed else [])
        if verdict and verdict.outcome == Outcome.FAILED and waiver_of(criterion) is None]


def waiver_of(criterion: Criterion) -> Waiver | None:
    """The waiver in force today."""
    return criterion.waivers.in_force(timezone.localdate()).first()


def newest_verdict(criterion: Criterion) -> Verdict | None:
    """The verdict that counts: the last one computed; one that `with_newest_verdicts` has read."""
    if hasattr(criterion, "newest_verdict"):
        return criterion.newest_verdict
    return criterion.verdicts.select_related(
        "measurement__artifact", "measurement__job__node").first()


def with_newest_verdicts(criteria: list[Criterion]) -> list[Criterion]:
    """The same criteria with their newest verdicts read, in one query for all."""
    newest = Verdict.objects.filter(criterion=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    keys = Criterion.objects.filter(pk__in=[one.pk for one in criteria]).annotate(
        newest=Subquery(newest)).values("newest")
    found = {verdict.criterion_id: verdict for verdict in Verdict.objects.filter(
        pk__in=keys).select_related("measurement__artifact", "measurement__job__node")}
    for criterion in criteria:
        criterion.newest_verdict = found.get(criterion.pk)
        if criterion.newest_verdict:
            criterion.newest_verdict.criterion = criterion
    return criteria


def of_target(rows: QuerySet, file: str = "artifact") -> QuerySet:
    """The measurements, readings or files that tell of the target platform; every figure of the
    target is chosen from these.

    Args:
        file: the path from a row to its file; empty for files themselves.
    """
    return rows.exclude(_of_source(file))


@cache  # building it takes longer than asking the database
def _of_source(file: str) -> Q:
    """Files of the source platform and copies of them in their engagement."""
    engagement = OuterRef(f"{file}__engagement" if file else "engagement")
    return Q(provenance.has_copy(file, provenance.declared(Purpose.SOURCE), engagement=engagement))


def counted(rows: QuerySet, *, is_counted: bool = True) -> QuerySet:
    """The measurements that may judge a criterion: of no trial, no regression run, no copy of what
    one made, and no file that only an agent declares; or the other ones."""
    return rows.exclude(_uncounted()) if is_counted else rows.filter(_uncounted())


def with_counted(rows: QuerySet) -> QuerySet:
    """The same measurements, each with `is_counted`: whether it is among the counted ones."""
    return rows.annotate(is_counted=Case(When(_uncounted(), then=False), default=True))


def _uncounted() -> Q:
    trial = Q(job__is_regression=True) | Q(
        job__kind__in=[kind.code for kind in kinds.all_kinds() if not kind.is_measured])
    return trial | Q(provenance.has_copy("artifact", trial), job=None) & ~Q(
        provenance.has_copy("artifact", ~trial, job__isnull=False)) | of_agents()


def of_agents() -> Q:
    """Measurements of files that no job made and no person stored."""
    return Q(job=None) & ~Q(provenance.has_copy("artifact", agent=None))


def measurements_of(criterion: Criterion) -> QuerySet[Measurement]:
    """All measurements that may count for a criterion, newest first."""
    return counted(measured_on_target(criterion))


def measured_on_target(criterion: Criterion) -> QuerySet[Measurement]:
    """All measurements of a criterion's quantity on the target platform, newest first.

    A copy of the criterion's own baseline stays: its verdict says what it is.
    """
    found = Measurement.objects.filter(
        model=criterion.model, quantity=criterion.quantity).select_related(
        "artifact__job", "job__node")
    own = criterion.baseline.artifact if criterion.baseline else None
    copies = _of_source("artifact") & ~Q(artifact__sha256=own.sha256 if own else "")
    return found.exclude(provenance.declared(Purpose.SOURCE, "artifact")).exclude(copies)


def why_not_counted(artifact: Artifact) -> str:
    """Why no criterion is judged by the file, as a sentence; empty where one may be."""
    known = provenance.of(artifact)
    if known.purpose == Purpose.SOURCE:
        return gettext(
            "This file is from the source platform: a baseline, a repeat of one or what came with "
            "them. Choose the file of the NPU run.")
    makers = [artifact.job] if artifact.job else known.makers
    if not makers or any(kinds.of_job(job).is_measured and not job.is_regression
                         for job in makers):
        return ""
    if makers[0].is_regression:
        return gettext("A regression run made this file: it is compared with the accepted run, and "
                       "judges no criterion.")
    return gettext("A trial made this file (%(kind)s): it judges no criterion. Choose the file of "
                   "the run itself.") % {"kind": kinds.of_job(makers[0]).title}


def runs_of(measurements: Iterable[Measurement]) -> list[Measurement]:
    """One measurement per run, newest run first.

    A run stands where its content came first: a file that is stored or read again is no later
    run. Of a job's files the last one tells of its run.
    """
    found: list[Measurement] = []
    places: dict[tuple[str, object], int] = {}
    for row in sorted(measurements, key=lambda row: (row.artifact_id, row.pk)):
        keys = {("file", row.artifact.sha256), ("job", row.job_id)} - {("job", None)}
        place = next((places[key] for key in keys if key in places), len(found))
        places.update(dict.fromkeys(keys, place))
        if place == len(found):
            found.append(row)
        elif row.artifact_id == found[place].artifact_id or (
                row.artifact.job_id and row.artifact.job_id == found[place].artifact.job_id):
            found[place] = row
    return found[::-1]


def independent(rows: Iterable[Recorded]) -> Iterator[Recorded]:
    """The rows that are runs of their own: several files of one job, and a file that was stored
    twice, are one run; the first of them counts."""
    known: set[tuple[str, object]] = set()
    for row in rows:
        file = row.artifact
        keys = {("file", file.sha256), ("job", file.job_id)} - {("job", None)} if file else set()
        if not keys & known:
            yield row
        known |= keys


def recorded_runs(baseline: Baseline) -> int:
    """Independent runs that a baseline rests on, itself included; re-measurements come later."""
    repeats = baseline.runs.filter(is_remeasurement=False).select_related("artifact")
    return len(list(independent([baseline, *repeats])))


def customers_signature(criteria_set: CriteriaSet) -> str:
    """Who signed for the customer, and how; a name that somebody typed is no signature."""
    entry = next((row for row in criteria_set.confirmations.all() if row.side == Side.CUSTOMER
                  and row.content_hash == criteria_set.content_hash), None)
    if entry or not criteria_set.customer_signatory:
        return str(entry or "")
    return gettext("%(name)s (entered by %(who)s; no signature is on file)") % {
        "name": criteria_set.customer_signatory, "who": criteria_set.signed_by}


def verdict_sentence(criterion: Criterion, verdict: Verdict | None) -> str:
    """The verdict in one sentence of the active language."""
    definition = criterion.definition
    if verdict is None:
        return sentence("not_measured", "no_measurement", None, criterion.threshold,
                        definition.comparison, definition.unit, {})
    return sentence(verdict.outcome, verdict.reason, verdict.figure, criterion.threshold,
                    definition.comparison, definition.unit, verdict.facts)


def is_indexable(reading: StoredReading) -> bool:
    """Whether the reading's file is an operator comparison whose rows can be indexed."""
    return reading.reader in COMPARISON_READERS


def unindexed() -> QuerySet[Artifact]:
    """Comparisons whose rows nobody has indexed yet, oldest first."""
    return Artifact.objects.filter(
        readings__reader__in=COMPARISON_READERS, comparison=None).distinct().order_by("pk")
