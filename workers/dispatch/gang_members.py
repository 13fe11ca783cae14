"""What is special about one node's part of a job on several nodes."""

from collections.abc import Iterable
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_noop

from engagements.audit import audit_log
from engagements.queue import NO_CLAIM
from workers import kinds
from workers.dispatch import endings, enqueueing, staging
from workers.gangs import rendezvous
from workers.gangs.rendezvous import RANK_TABLE, Rendezvous
from workers.logs import diagnosis, live_log
from workers.models import Gang, Job, JobInput, JobState
from workers.models.job import WAITING_STATES
from workers.nodes.card_leases import release_cards

PARKED = datetime(9999, 1, 1, tzinfo=UTC)  # a waiting member takes no steps: the job does
NEVER_STARTED = gettext_noop("It was never started.")


def make(gang: Gang, nodes: Iterable, template: Job, logins: dict, runtimes: dict,
         earlier: dict[int, Job]) -> list[Job]:
    """The members of a round, one per node in the order of ranks; they wait.

    Args:
        template: the job on several nodes. logins, runtimes: by node.
        earlier: the round before, by rank.
    """
    return [Job.objects.create(
        kind=template.kind, engagement=template.engagement, model=template.model,
        stage=template.stage, purpose=template.purpose, node=node, login=logins.get(node.pk),
        gang=gang, rank=rank,
        parameters=template.parameters, runtime=runtimes.get(node.pk, {}),
        cards_wanted=template.cards_wanted,
        created_by=template.created_by, is_practice=template.is_practice,
        timeout_seconds=template.timeout_seconds, priority=template.priority,
        state=JobState.LEASING, next_step_at=PARKED, attempt=gang.round,
        retry_of=earlier.get(rank)) for rank, node in enumerate(nodes)]


def copy_inputs(members: Iterable[Job]) -> None:
    """A new round needs what the earlier one was brought, each in its own folder."""
    JobInput.objects.bulk_create(item.copy_for(member) for member in members if member.retry_of
                                 for item in member.retry_of.inputs.all())


def meeting_of(member: Job) -> Rendezvous:
    """Where the member meets the others."""
    return rendezvous.restored(member.gang.rendezvous, member.rank, member.attempt)


def environment(member: Job) -> dict[str, str]:
    """Variables of the member's command beyond those of its kind; one is known to the members of
    this round alone."""
    key = salted_hmac("workers.gang", f"{member.gang_id} {member.attempt}", algorithm="sha256")
    return {**rendezvous.environment(meeting_of(member)), "DESK_GANG_KEY": key.hexdigest()}


def paths(member: Job) -> dict[str, str]:
    """Variables that name files of the member's work folder."""
    meeting = meeting_of(member)
    found = rendezvous.paths(meeting)
    uses_table = kinds.of_job(member).uses_rank_table(member.parameters)
    if uses_table and rendezvous.has_rank_table(meeting):
        found["RANK_TABLE_FILE"] = RANK_TABLE
    return found


def files(member: Job) -> dict[str, str]:
    """What is laid into the member's work folder, by name."""
    return rendezvous.files(meeting_of(member))


def judged(member: Job) -> dict:
    """The final changes of a member whose command ended: its status says it all.

    What the job has shown is judged once, for all nodes.
    """
    if member.exit_status in kinds.of_job(member).statuses_for(member.parameters):
        return endings.end(JobState.SUCCEEDED, gettext_noop("Its command ended with status %("
                           "status)s."), status=member.exit_status)
    changes = endings.failed(gettext_noop("Its command ended with status %(status)s."),
                             status=member.exit_status)
    return endings.explained({**changes, "results": member.results},
                             diagnosis.of_job(member), live_log.tail(member, 20_000))


def send(gang: Gang, members: list[Job], meeting: Rendezvous) -> None:
    """Let the members start, all at once. Whoever has a claim on one loses it."""
    kind = kinds.of_job(gang.job)
    with transaction.atomic():
        Gang.objects.filter(pk=gang.pk).update(rendezvous=meeting.as_json(), failing_since=None)
        gang.rendezvous = meeting.as_json()
        for member in members:
            mine = rendezvous.restored(gang.rendezvous, member.rank, member.attempt)
            Job.objects.filter(pk=member.pk, state__in=WAITING_STATES).update(
                state=JobState.STARTING, command=kind.argv_on(
                    staging.placed_parameters(kind, member), mine),
                results={**member.results, "cards": list(mine.seat.cards)},
                next_step_at=timezone.now(), **NO_CLAIM)
        job = gang.job
        Job.objects.filter(pk=job.pk).update(command=kind.argv_on(job.parameters, meeting))
        audit_log.record(actor=None, action="job.start_members", target=job,
                         engagement=job.engagement, data={"round": gang.round})
        enqueueing.poll_on_commit(sorted({member.node_id for member in members}))


def stop(job: Job, members: Iterable[Job]) -> None:
    """Ask for the end of those that are open; those that never started end at once.

    A command that has ended by itself is left alone, though its files are still collected: it was
    not cancelled, and its end may be why the others are stopped.
    """
    asked = [member for member in members if not member.is_final
             and member.cancel_requested_at is None and member.exit_status is None]
    end_waiting([member for member in asked if member.state in WAITING_STATES])
    running, now = [each for each in asked if each.state not in WAITING_STATES], timezone.now()
    if not running:
        return
    with transaction.atomic():
        Job.objects.filter(pk__in=[member.pk for member in running]).update(
            cancel_requested_at=now, next_step_at=now)
        audit_log.record(actor=None, action="job.stop_members", target=job,
                         engagement=job.engagement, data={"members": len(running)})
        enqueueing.poll_on_commit(sorted({member.node_id for member in running}))


def end_waiting(members: list[Job]) -> None:
    """Members that never started are final, and their cards free."""
    with transaction.atomic():
        for member in members:
            changes = endings.end(JobState.CANCELLED, NEVER_STARTED)
            Job.objects.filter(pk=member.pk, state__in=WAITING_STATES).update(
                **changes, **NO_CLAIM)
            release_cards(member)
            member.state = JobState.CANCELLED
            audit_log.record(actor=None, action="job.member_end", target=member,
                             engagement=member.engagement, data={"state": member.state})
