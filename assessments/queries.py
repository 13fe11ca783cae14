"""Queries shared by pages and API."""

from collections.abc import Iterable, Iterator
from functools import cache

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
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
from engagements.stages import ON_SOURCE_PLATFORM
from workers import kinds
from workers.models import Artifact, JobInput, StoredReading

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
    return rows.exclude(_of_source(file)).exclude(_of_baselines(file, "sha256"))


def of_source(rows: QuerySet, file: str = "artifact") -> QuerySet:
    """The other ones, which tell of the source platform, without mere copies of their files."""
    return rows.filter(_of_source(file))


@cache  # building it takes longer than asking the database
def _of_source(file: str) -> Q:
    """Files of the source platform: those of baselines, of their repeats and re-measurements and
    of the jobs that brought them; those of jobs in stages on it; and what the server computed
    from nothing but such files."""
    job = f"{file}__job" if file else "job"
    inputs = JobInput.objects.filter(job=OuterRef(job))
    return _brought_by_source(file) | Q(
        Exists(inputs), ~Exists(inputs.exclude(_brought_by_source("artifact"))),
        **{f"{job}__node": None, f"{job}__nodes_wanted": 1})


def _brought_by_source(file: str) -> Q:
    job = f"{file}__job" if file else "job"
    return Q(**{f"{job}__stage__in": ON_SOURCE_PLATFORM}) | _of_baselines(file, "pk") | (
        _of_baselines(file, "job"))


@cache
def _of_baselines(file: str, column: str) -> Q:
    """Files with the same value in a column as one of a baseline of their engagement."""
    path = f"{file}__" if file else ""
    return Q(Exists(Baseline.objects.filter(**_same(path, column, "model")))) | Q(
        Exists(BaselineRun.objects.filter(**_same(path, column, "baseline__model"))))


def _same(path: str, column: str, model: str) -> dict[str, OuterRef]:
    return {f"{model}__engagement": OuterRef(f"{path}engagement"),
            f"artifact__{column}": OuterRef(f"{path}{column}")}


def measurements_of(criterion: Criterion) -> QuerySet[Measurement]:
    """All measurements of a criterion's quantity on the target platform, newest first, without
    regression runs and trials of kinds that measure nothing.

    A copy of the criterion's own baseline stays: its verdict says what it is.
    """
    trials = [kind.code for kind in kinds.all_kinds() if not kind.is_measured]
    found = Measurement.objects.filter(
        model=criterion.model, quantity=criterion.quantity).exclude(job__kind__in=trials).exclude(
        job__is_regression=True).select_related("artifact", "job")
    own = criterion.baseline.artifact if criterion.baseline else None
    copies = _of_baselines("artifact", "sha256") & ~Q(artifact__sha256=own.sha256 if own else "")
    return found.exclude(_of_source("artifact")).exclude(copies)


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
