"""Runs, raw files and stages of an engagement as plain facts for a snapshot."""

import re
from operator import attrgetter

from django.db.models import Q, QuerySet

from assessments.models import Criterion, Verdict
from delivery.documents.bilingual import both, instant, named, pair
from engagements.errors import DeskError
from engagements.models import Engagement
from engagements.remembered_reads import remembered
from engagements.stages import FROM_ACCEPTANCE
from toolreaders.masking import mask_words
from workers import kinds
from workers.models import Artifact, Job

PROGRAM = re.compile(r'exec ([^;&|"$]+) "\$@"\s*$')
Judged = list[tuple[Criterion, Verdict | None]]


def judged_artifacts(judged: Judged) -> dict[int, str]:
    """Raw files that the verdicts rest on: id to role, `baseline` or `measured`."""
    roles = {}
    for criterion, verdict in judged:
        if criterion.baseline and criterion.baseline.artifact_id:
            roles[criterion.baseline.artifact_id] = "baseline"
        if verdict and verdict.measurement:
            roles[verdict.measurement.artifact_id] = "measured"
    return roles


def artifacts_of(engagement: Engagement) -> QuerySet[Artifact]:
    """All raw files of the engagement, in order of their numbers."""
    return engagement.artifacts.order_by("pk").select_related(
        "job__node", "job__created_by", "job__agent", "model", "uploaded_by", "agent",
    ).prefetch_related("job__leases")


def manifest(engagement: Engagement, judged: Judged) -> list[dict]:
    """The evidence manifest: file, size, checksum, and where it comes from (AR-06)."""
    attached = engagement.third_party_reports.in_force().values_list("artifact_id", flat=True)
    roles = {**dict.fromkeys(attached, "third_party"), **judged_artifacts(judged)}
    return [_evidence(artifact, roles) for artifact in artifacts_of(engagement)]


def _evidence(artifact: Artifact, roles: dict[int, str]) -> dict:
    job = artifact.job
    return {
        "id": artifact.pk, "name": artifact.name, "size": artifact.size,
        "sha256": artifact.sha256, "role": roles.get(artifact.pk, ""),
        "model": artifact.model.code if artifact.model else "", "job": artifact.job_id,
        "node": job.node.name if job and job.node else "", "cards": cards_of(job) if job else [],
        "who": named(job.created_by, job.agent) if job else named(
            artifact.uploaded_by, artifact.agent),
        "when": instant(artifact.created_at), "is_practice": artifact.is_practice,
    }


@remembered
def cards_of(job: Job) -> list[int]:
    """Numbers of the cards that it was given."""
    return sorted(lease.card_index for lease in job.leases.all())


def runs(jobs: list[Job], judged: Judged) -> list[dict]:
    """Every job, also the failed and the cancelled ones, and which are judged (AR-09)."""
    counted = {v.measurement.job_id for _c, v in judged if v and v.measurement}
    return [_run(job, counted) for job in jobs]


def _run(job: Job, counted: set[int | None]) -> dict:
    return {
        "id": job.pk, "kind": job.kind, "title": both(lambda: kind_title(job.kind)),
        "model": job.model.code if job.model else "",
        "stage": both(job.get_stage_display), "node": job.node_names,
        "cards": cards_of(job), "state": job.state, "state_label": both(job.get_state_display),
        "command": tool_command([str(part) for part in job.command]),
        "exit_status": job.exit_status,
        "sentence": both(lambda: job.sentence), "attempt": job.attempt,
        "who": named(job.created_by, job.agent), "created": instant(job.created_at),
        "started": instant(job.started_at), "finished": instant(job.finished_at),
        "seconds": _seconds(job), "cards_wanted": job.cards_total,
        "is_judged": job.pk in counted, "is_practice": job.is_practice, "runtime": job.runtime,
    }


def tool_command(argv: list[str]) -> list[str]:
    """The command as the tool was given it, without the script that prepares its folder.

    The firm's own scripts are `sh -c SCRIPT NAME ARGUMENTS…`, where what they run stands behind
    `exec`, and `python3 -c SCRIPT ARGUMENTS…`. An empty argument of theirs is an option that was
    not given: the scripts leave it out. What looks like a secret is masked.
    """
    argv = mask_words(argv)
    if argv[:2] == ["python3", "-c"]:
        return [*argv[:3], *filter(None, argv[3:])]
    if argv[:2] != ["sh", "-c"]:
        return argv
    program = PROGRAM.search(argv[2])
    return [*(program[1].split() if program else argv[3:4]), *filter(None, argv[4:])]


def _seconds(job: Job) -> int:
    if not (job.started_at and job.finished_at):
        return 0
    return max(0, int((job.finished_at - job.started_at).total_seconds()))


def kind_title(code: str) -> str:
    """The title of a job kind; its code where the kind no longer exists."""
    try:
        return str(kinds.get(code).title)
    except DeskError:
        return code


def stages(engagement: Engagement) -> list[dict]:
    """Per model the state of each stage ahead of the acceptance."""
    return [{"model": model.code, "name": pair(model.name, model.name_en),
             "stages": [{"stage": both(record.get_stage_display), "state": record.state,
                         "label": both(record.get_state_display)}
                        for record in sorted(model.stages.all(), key=attrgetter("position"))
                        if record.stage not in FROM_ACCEPTANCE]}
            for model in engagement.models.prefetch_related("stages")]


def open_jobs(engagement: Engagement) -> QuerySet[Job]:
    """Jobs on their way: a document is not issued while one could still change its facts."""
    return engagement.jobs.whole().in_flight().filter(~Q(model=None))
