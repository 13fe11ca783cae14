"""Every run that could measure a criterion: judged, or left out and why (DOMAIN AR-09).

Pages, documents and bundles take their runs from `all_runs`; nothing else lists them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.models import Criterion, Measurement, Outcome, Verdict
from assessments.queries import measured_on_target, of_target, runs_of, with_counted
from assessments.verdicts.computation import judge_one
from assessments.verdicts.environments import began_of
from assessments.verdicts.run_settings import run_settings
from engagements.models import MigratedModel
from engagements.remembered_reads import remembered
from toolreaders.verdicts.quantities import quantities
from toolreaders.verdicts.sentences import shown
from toolreaders.verdicts.verdict import ENGINE_VERSION
from workers.artifacts import provenance
from workers.models import Artifact, Job, StoredReading
from workers.models.job import JobState

MOST_COMPUTED = 20  # runs left out whose raw files one judgement reads; each is read once
UNSUCCESSFUL = (JobState.FAILED, JobState.CANCELLED, JobState.TIMED_OUT, JobState.LOST)


class Standing(models.TextChoices):
    """Whether a verdict rests on a run, and if not, by which rule it is left out."""

    JUDGED = "judged", _("judged")
    LATER_COUNTS = "later_counts", _("left out: later runs count")
    AFTER_VERDICT = "after_verdict", _("not judged: measured after the verdict")
    NOT_JUDGED = "not_judged", _("not judged yet")
    UNSUCCESSFUL = "unsuccessful", _("left out: the run did not succeed")
    TRIAL = "trial", _("left out: a trial measures nothing")
    REGRESSION = "regression", _("left out: a regression run judges nothing")
    AGENT = "agent", _("left out: an agent declares it, no job made it")


@dataclass(frozen=True)
class Earlier:
    """A verdict that rested on a run: when, under which version of the criteria, with what."""

    at: datetime
    version: int
    outcome: str

    @property
    def label(self) -> str:
        return str(Outcome(self.outcome).label)


@dataclass(frozen=True)
class Run:
    """One run of a criterion's model.

    Args:
        artifact: the file that it is judged by; None where it brought none with the quantity.
        began: when it began, see `began_of`; of a job without file when that was started.
        figure: by the criterion's definition; None where none was computed.
        differences: settings that are others than those of the judged run: (name, there, here).
        earlier: verdicts that rested on it, oldest first; alike ones in a row count once.
    """

    job: Job | None
    artifact: Artifact | None
    began: datetime | None
    standing: str
    figure: float | None = None
    text: str = "--"
    differences: list[tuple[str, str, str]] = field(default_factory=list)
    earlier: list[Earlier] = field(default_factory=list)

    @property
    def is_judged(self) -> bool:
        return self.standing == Standing.JUDGED

    @property
    def label(self) -> str:
        return str(Standing(self.standing).label)


def all_runs(criterion: Criterion, verdict: Verdict | None) -> list[Run]:
    """All runs of the model that could measure the criterion, newest first."""
    judged = {run["artifact"] for run in verdict.facts.get("runs", [])} if verdict else set()
    figures, earlier = _history(criterion)
    found = list(_candidates(criterion))
    reference = next((row.artifact.job for row, _job, _why in found
                      if row and row.artifact_id in judged), None)
    known = provenance.of_each([row.artifact for row, _job, _why in found if row])
    runs = []
    for row, job, why in found:
        artifact = row.artifact if row else None
        figure = figures.get(row.artifact_id) if row else None
        runs.append(Run(
            job, artifact, began_of(known[artifact.pk]) if artifact else (
                job.started_at or job.created_at),
            _standing(row, why, judged, verdict), figure,
            "--" if figure is None else shown(
                figure, criterion.threshold, criterion.definition.unit)[0],
            _differences(reference, job), earlier.get(row.artifact_id, []) if row else []))
    return sorted(runs, key=lambda run: run.began, reverse=True)


def figures_left_out(criterion: Criterion, judged: set[int]) -> list[dict]:
    """Figures of the runs that a verdict does not rest on, each as if it were judged alone.

    What a verdict under the same text has kept is taken over; of others the raw files are read.

    Args:
        judged: keys of the files that the verdict rests on.
    """
    known, _earlier = _history(criterion)
    found, read = [], 0
    for row, job, _why in _candidates(criterion):
        if row is None or row.artifact_id in judged:
            continue
        if row.artifact_id not in known:
            if read == MOST_COMPUTED:
                continue
            read += 1
            known[row.artifact_id] = judge_one(criterion, row).figure
        found.append({"artifact": row.artifact_id, "job": job.pk if job else None,
                      "figure": known[row.artifact_id]})
    return found


def _candidates(criterion: Criterion
                ) -> Iterator[tuple[Measurement | None, Job | None, str | None]]:
    """Each run with its file and the reason why it never counts, newest first within each group:
    those that count, trials and regression runs, unsuccessful ones."""
    rows = list(with_counted(measured_on_target(criterion)))
    counted = runs_of(row for row in rows if row.is_counted)
    others = runs_of(row for row in rows if not row.is_counted)
    known = {row.job_id for row in (*counted, *others)}
    yield from ((row, row.job, None) for row in counted)
    for row in others:
        # Of a copy, the job of its bytes; of what an agent declares, none.
        maker = row.job or next(iter(provenance.of(row.artifact).makers), None)
        yield row, row.job, Standing.AGENT if maker is None else (
            Standing.REGRESSION if maker.is_regression else Standing.TRIAL)
    failed = [job for job in _unsuccessful(criterion.model) if job.pk not in known]
    brought = _brought(criterion, failed) if failed else {}
    alike = {row.job.kind for row in (*counted, *others) if row.job}
    alike |= {row.job.kind for row in brought.values()}
    for job in failed:
        if job.kind in alike:
            yield brought.get(job.pk), job, Standing.UNSUCCESSFUL


@remembered
def _unsuccessful(model: MigratedModel) -> list[Job]:
    return list(Job.objects.whole().filter(
        model=model, state__in=UNSUCCESSFUL).select_related("node").order_by("-pk"))


@remembered
def _readings_of_unsuccessful(model: MigratedModel) -> list[StoredReading]:
    return list(of_target(StoredReading.objects.filter(
        artifact__job__in=_unsuccessful(model))).select_related(
            "artifact__job__node").order_by("pk"))


def _brought(criterion: Criterion, failed: list[Job]) -> dict[int, Measurement]:
    """What unsuccessful jobs measured of the criterion's quantity before they ended, by job; not
    stored, since it counts for nothing unless a person has the file judged."""
    return {reading.artifact.job_id: Measurement(
        model=criterion.model, quantity=criterion.quantity, value=entry.value, unit=entry.unit,
        artifact=reading.artifact, job=reading.artifact.job, reader=reading.reader)
        for reading in _readings_of_unsuccessful(criterion.model)
        if reading.artifact.job in failed
        for entry in quantities(reading.kind, reading.values)
        if entry.name == criterion.quantity}


def _history(criterion: Criterion) -> tuple[dict[int, float | None], dict[int, list[Earlier]]]:
    """By file its figure, and the verdicts that rested on it, under any version of the criteria
    that holds the same definition, baseline and point."""
    rows = Verdict.objects.filter(
        criterion__model=criterion.model, criterion__definition=criterion.definition,
        criterion__baseline=criterion.baseline, criterion__point=criterion.point,
    ).order_by("pk").values_list(
        "engine_version", "outcome", "computed_at", "criterion__criteria_set__version",
        "facts__runs", "facts__left_out")
    figures: dict[int, float | None] = {}
    earlier: dict[int, list[Earlier]] = {}
    for engine, outcome, at, version, judged, left_out in rows:
        for run in (*(judged or ()), *(left_out or ())):
            if engine == ENGINE_VERSION:
                figures[run["artifact"]] = run.get("figure")
        for run in judged or ():
            earlier.setdefault(run["artifact"], []).append(Earlier(at, version, outcome))
    return figures, {key: [next(alike) for _same, alike in groupby(
        found, key=lambda entry: (entry.version, entry.outcome))]
        for key, found in earlier.items()}


def _standing(row: Measurement | None, why: str | None, judged: set[int],
              verdict: Verdict | None) -> str:
    if row and row.artifact_id in judged:
        return Standing.JUDGED
    if why:
        return why
    if not judged:
        return Standing.NOT_JUDGED
    is_newer = row.created_at > verdict.computed_at
    return Standing.AFTER_VERDICT if is_newer else Standing.LATER_COUNTS


def _differences(reference: Job | None, job: Job | None) -> list[tuple[str, str, str]]:
    """Settings of a run that are others than those of the judged one."""
    if reference is None or job is None or job == reference:
        return []
    there, here = run_settings(reference), run_settings(job)
    return [(name, there.get(name, ""), here.get(name, ""))
            for name in sorted(there.keys() | here.keys()) if there.get(name) != here.get(name)]
