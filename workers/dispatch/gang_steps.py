"""The steps of a job on several nodes: cards, network, start of its members, their joint end.

The members are dispatched as any job (`steps`); here is only what concerns all of them.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from engagements.audit import audit_log
from engagements.text.nested_sentences import nested
from workers import kinds
from workers.dispatch import (
    card_queue,
    endings,
    gang_members,
    gang_network,
    gang_outcome,
    staging,
)
from workers.dispatch.admission import Admission, admission
from workers.dispatch.endings import end, failed
from workers.dispatch.sentences import DISK_FULL, HELD, TOO_FEW_ON_A_NODE
from workers.kinds import unknown_kind
from workers.kinds.parameters import references_in
from workers.models import Gang, Job, JobState, Node
from workers.nodes import card_leases, ssh

WAIT = timedelta(seconds=3)
AWAY = timedelta(seconds=20)
LET_OTHERS_END = timedelta(seconds=5)  # after the first failure: theirs tell what happened
ON_NODE = gettext_noop("%(node)s: %(why)s")
NOT_READY = gettext_noop("Waiting: the node %(node)s is not ready or does not answer.")


def _gang_of(job: Job) -> tuple[Gang, list[Job]]:
    gang = Gang.objects.get(job=job)
    return gang, list(gang.present())


def queued(job: Job) -> dict:
    _gang, members = _gang_of(job)
    if not kinds.of_job(job).is_known:
        gang_members.end_waiting(members)
        return failed(unknown_kind.SENTENCE, kind=job.kind)
    if _needs_inputs(job):
        return {"state": JobState.STAGING}
    return {"state": JobState.LEASING, **lease(job)}


def _needs_inputs(job: Job) -> bool:
    return bool(references_in(kinds.of_job(job).parameters, job.parameters))


def stage(job: Job) -> dict:
    """Bring the inputs to one node after the other, before any cards are taken."""
    _gang, members = _gang_of(job)
    if staging.is_cancelled(job):
        gang_members.end_waiting(members)
        return end(JobState.CANCELLED, endings.CANCELLED_BEFORE)
    for member in members:
        changes = _brought(member)
        if changes.get("state") == JobState.LEASING:
            continue
        if "state" in changes:  # failed or cancelled: for all
            gang_members.end_waiting(members)
        return changes
    return {"state": JobState.LEASING, "message": "", "message_values": {},
            "next_step_at": timezone.now()}


def _brought(member: Job) -> dict:
    if not member.node.is_ready:
        return _not_ready(member.node)
    try:
        return staging.step(member)
    except ssh.NodeError as error:
        return {**_wait(NOT_READY, AWAY, node=member.node.name), "technical_cause": str(error)}


def _not_ready(node: Node) -> dict:
    if node.state == Node.State.READY and node.unreachable_since is None:  # so its disk is full
        return _wait(ON_NODE, node=node.name, why=nested(DISK_FULL, {
            "free": node.scratch_free_mb, "least": node.disk_limits[1]}))
    return _wait(NOT_READY, node=node.name)


def lease(job: Job) -> dict:
    _gang, members = _gang_of(job)
    if job.cancel_requested_at:
        gang_members.end_waiting(members)
        return end(JobState.CANCELLED, endings.CANCELLED_BEFORE)
    if waits := _waits_for_people_or_nodes(job, members):
        return waits
    promises = [admission(member.node, timezone.now()) for member in members]
    with promises[0].exclusively_for(members[0]):
        if waits := _waits_for_a_promise(members, promises):
            return waits
        if job.cards_wanted:
            if waits := _waits_for_turn(job, members, promises):
                return waits
            if not card_leases.take_cards_of_all(job, members):
                return _wait_for_cards(members)
    return {"state": JobState.STARTING, "message": "", "message_values": {}}


def _waits_for_people_or_nodes(job: Job, members: list[Job]) -> dict | None:
    if job.hold_reason:
        return _wait(HELD, reason=job.hold_reason)
    away = next((m for m in members if not m.node.is_ready), None)
    return _not_ready(away.node) if away else None


def _waits_for_a_promise(members: list[Job], promises: list[Admission]) -> dict | None:
    """The first maintenance, reservation or quota in the way, and on which node."""
    if any(card_leases.held_cards(member) for member in members):
        return None  # admitted before a crash
    for member, promised in zip(members, promises, strict=True):
        if obstacle := promised.obstacle(member):
            return _wait(ON_NODE, node=member.node.name,
                         why=nested(obstacle.message, obstacle.values))
    return None


def _waits_for_turn(job: Job, members: list[Job], promises: list[Admission]) -> dict | None:
    for member, promised in zip(members, promises, strict=True):
        usable = len(card_leases.usable_cards(member.node))
        if job.cards_wanted > usable:
            return _wait(TOO_FEW_ON_A_NODE, n=job.cards_wanted, node=member.node.name,
                         usable=usable)
        if (place := card_queue.place_in_line(member, promised)) > 1:
            return _wait(gettext_noop(
                "Waiting for its turn: place %(place)d in the line of %(node)s."),
                place=place, node=member.node.name)
    return None


def _wait_for_cards(members: list[Job]) -> dict:
    busy = [member.node.name for member in members
            if len(card_leases.free_cards(member.node)) < member.cards_wanted]
    return _wait(gettext_noop(
        "Waiting until cards are free on all %(n)d nodes at once; missing on: %(nodes)s."),
        n=len(members), nodes=", ".join(busy) or "–")


def _wait(message: str, pause: timedelta = WAIT, **values) -> dict:
    return {"message": message, "message_values": values,
            "next_step_at": timezone.now() + pause}


def start(job: Job) -> dict:
    """Look at the network, then let all members start; repeated after a crash."""
    gang, members = _gang_of(job)
    if any(member.state != JobState.LEASING for member in members):
        return _begun(job)
    if job.cancel_requested_at:
        gang_members.end_waiting(members)
        return end(JobState.CANCELLED, endings.CANCELLED_BEFORE)
    cards = {member.pk: card_leases.held_cards(member) for member in members}
    try:
        meeting = gang_network.meeting_of(gang, members, cards)
    except gang_network.NoMeeting as error:
        gang_members.end_waiting(members)
        return failed(error.message, cause=error.cause, **error.values)
    except gang_network.NodeAway as error:
        with transaction.atomic():
            for member in members:
                card_leases.release_cards(member)
            audit_log.record(actor=None, action="cards.release", target=job,
                             engagement=job.engagement, data={"members": len(members)})
        return {"state": JobState.LEASING, **_wait(
            NOT_READY, AWAY, node=error.member.node.name), "technical_cause": str(error)}
    gang_members.send(gang, members, meeting)
    return _begun(job)


def _begun(job: Job) -> dict:
    now = timezone.now()
    return {"state": JobState.RUNNING, "started_at": job.started_at or now, "message": "",
            "message_values": {}, "next_step_at": now + timedelta(seconds=0.5)}


def look_after(job: Job) -> dict:
    gang, members = _gang_of(job)
    if all(member.is_final for member in members):
        return {"state": JobState.COLLECTING, "message": "", "next_step_at": timezone.now()}
    broken = [member for member in members if gang_outcome.has_failed(member)]
    if job.cancel_requested_at or (broken and _others_had_time(gang)):
        gang_members.stop(job, members)
    now = timezone.now()
    pause = timedelta(seconds=1) if broken or job.cancel_requested_at else (
        endings.poll_interval(job, now))
    return {**_progress(members), **_state(members, broken), "next_step_at": now + pause}


def _others_had_time(gang: Gang) -> bool:
    if gang.failing_since is None:
        gang.failing_since = timezone.now()
        Gang.objects.filter(pk=gang.pk).update(failing_since=gang.failing_since)
    return timezone.now() >= gang.failing_since + LET_OTHERS_END


def _progress(members: list[Job]) -> dict:
    main = gang_outcome.speaker(members)
    beats = [member.heartbeat_at for member in members if member.heartbeat_at]
    return {"progress_done": main.progress_done, "progress_total": main.progress_total,
            "last_loss": main.last_loss, "heartbeat_at": min(beats, default=None)}


def _state(members: list[Job], broken: list[Job]) -> dict:
    """A node that does not answer proves nothing: its rank may go on, and its end is waited for."""
    if away := [member for member in members if member.state == JobState.UNKNOWN]:
        names = ", ".join(member.node.name for member in away)
        message = gettext_noop(
            "No answer from: %(nodes)s. Whether its ranks go on is not known.")
        if broken:
            message = gettext_noop(
                "No answer from: %(nodes)s. The other nodes are being ended; the job ends once "
                "it is known what became of these.")
        return {"state": JobState.UNKNOWN, "state_before_unknown": JobState.RUNNING,
                "message": message, "message_values": {"nodes": names}}
    if broken:
        return {"state": JobState.RUNNING, "message": gettext_noop(
            "Node %(rank)d (%(node)s) failed; the others are being ended."),
            "message_values": {"rank": broken[0].rank, "node": broken[0].node.name}}
    return {"state": JobState.RUNNING, "message": "", "message_values": {}}


def collect(job: Job) -> dict:
    """All have ended: take the files together, and say how it went."""
    gang, members = _gang_of(job)
    if job.cancel_requested_at:
        return _closed(job, members, members[0], gang_outcome.cancelled(members))
    first = gang_outcome.first_failed(members)
    if first is None and all(member.state == JobState.SUCCEEDED for member in members):
        main = gang_outcome.speaker(members)
        return _closed(job, members, main, {
            "state": JobState.READING, "exit_status": main.exit_status, "message": "",
            "next_step_at": timezone.now()})
    if first is None:  # ended by somebody else's hand on one of the nodes
        first = next(member for member in members if member.state != JobState.SUCCEEDED)
    if gang.round <= gang.restarts_allowed and first.state != JobState.TIMED_OUT:
        return _restart(job, gang, members, first)
    return _closed(job, members, first, gang_outcome.failure(first, gang.round - 1))


def _closed(job: Job, members: list[Job], main: Job, changes: dict) -> dict:
    """The job's changes, with the log and the cards of its members as its own."""
    gang_outcome.take_over(job, members, main)
    results = {**job.results, "ranks": [_rank(member) for member in members], "cards": [],
               "left_behind": [each for member in members
                               for each in member.results.get("left_behind", [])]}
    if unread := [each for member in members if (each := member.results.get("not_collected"))]:
        results["not_collected"] = {"n": sum(each["n"] for each in unread),
                                    "files": [file for each in unread for file in each["files"]]}
    if found := main.results.get("diagnosis"):
        results["diagnosis"] = found
    return {"progress_done": main.progress_done, "progress_total": main.progress_total,
            "last_loss": main.last_loss, "log_offset": main.log_offset,
            "log_stored": main.log_stored, "results": results, **changes}


def _rank(member: Job) -> dict:
    return {"rank": member.rank, "node": member.node.name, "job": member.pk,
            "cards": member.results.get("cards", []), "state": member.state,
            "exit_status": member.exit_status}


@transaction.atomic
def _restart(job: Job, gang: Gang, members: list[Job], first: Job) -> dict:
    """A new attempt of all members; each begins in a folder of its own."""
    gang.round, gang.failing_since = gang.round + 1, None
    gang.save(update_fields=["round", "failing_since"])
    gang_members.copy_inputs(gang_members.make(
        gang, [member.node for member in members], job,
        {member.node_id: member.login for member in members},
        {member.node_id: member.runtime for member in members},
        {member.rank: member for member in members}))
    audit_log.record(actor=None, action="job.restart", target=job, engagement=job.engagement,
                     data={"restart": gang.round - 1, "of": gang.restarts_allowed,
                           "rank": first.rank, "node": first.node.name})
    return {"state": JobState.STAGING if _needs_inputs(job) else JobState.LEASING,
            "next_step_at": timezone.now(),
            "message": gettext_noop(
                "Restart %(n)d of %(most)d, since node %(rank)d (%(node)s) failed: %(why)s"),
            "message_values": {"n": gang.round - 1, "most": gang.restarts_allowed,
                               "rank": first.rank, "node": first.node.name,
                               "why": nested(first.message, first.message_values)}}
