"""The table of what people may do with a job: every state, move and role."""

from functools import partial

import pytest
from django.utils import timezone
from django.utils.translation import override

from delivery.notices.models import Notice
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role
from engagements.moves import allowed_moves
from tests.transition_cases import check_coverage, check_state, grid
from workers import services
from workers.dispatch import sentences, transitions
from workers.dispatch.transitions import TRANSITIONS
from workers.models import Job, JobState, Priority

WORKERS = "administrator manager consultant"
AGREED = grid(f"""
    starting running collecting reading unknown: {WORKERS} operator = cancel
    queued staging leasing: manager consultant = cancel
    queued staging leasing: administrator operator = cancel hold priority
    held: administrator operator = cancel release priority
    failed cancelled timed_out lost: {WORKERS} = retry
""")
NODE_JOBS = grid("""
    running: administrator operator = cancel
    failed: administrator operator = retry
""")
SERVICES = {
    "cancel": services.cancel_job, "retry": services.retry_job, "release": services.release_job,
    "hold": partial(services.hold_job, reason="x"),
    "priority": partial(services.set_priority, priority=Priority.LOW, reason="x")}


def in_state(job: Job, state: str, **columns) -> Job:
    Job.objects.filter(pk=job.pk).update(state=state, finished_at=timezone.now(), **columns)
    return Job.objects.get(pk=job.pk)


def make(person, job, move):
    SERVICES[move](actor=person, job=job)


@pytest.mark.slow
@pytest.mark.parametrize("state", JobState.values)
def test_every_move_in_every_state_by_every_role(queue, people, state):
    job = in_state(queue("exit 3"), state)
    check_state(TRANSITIONS, AGREED, people, job, make, f"/api/v1/jobs/{job.pk}/")


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.FAILED])
def test_jobs_of_no_engagement_are_for_who_operates(queue, people, state):
    job = in_state(queue("exit 3"), state, engagement=None)
    check_state(TRANSITIONS, NODE_JOBS, people, job, make, f"/api/v1/jobs/{job.pk}/")


def test_the_grid_names_every_move():
    check_coverage(TRANSITIONS, AGREED, [*JobState.values, "held"])


def test_a_held_job_waits_until_it_is_released_and_its_owner_is_told(queue, people):
    job = in_state(queue("exit 3"), JobState.LEASING)
    Job.objects.filter(pk=job.pk).update(finished_at=None, created_by=people[Role.CONSULTANT])
    operator = people[Role.OPERATOR]
    services.hold_job(actor=operator, job=job, reason="换风扇")
    job.refresh_from_db()
    assert transitions.step(job)["message"] == sentences.HELD
    assert allowed_moves(operator, TRANSITIONS, job) == AGREED["held", Role.OPERATOR]
    with pytest.raises(InvalidInput):
        services.set_priority(actor=operator, job=job, priority=Priority.URGENT, reason=" ")
    services.set_priority(actor=operator, job=job, priority=Priority.URGENT, reason="验收")
    services.release_job(actor=operator, job=job)
    job.refresh_from_db()
    assert (job.hold_reason, job.priority, transitions.step(job).get("state")) == (
        "", Priority.URGENT, JobState.STARTING)
    with pytest.raises(InvalidInput):
        services.cancel_job(actor=operator, job=job)
    services.cancel_job(actor=operator, job=job, reason="节点下架")
    told = Notice.objects.filter(recipient=people[Role.CONSULTANT]).order_by("pk")
    assert [notice.event.kind for notice in told] == ["job_held", "job_moved", "job_overruled"]


def test_urgent_needs_a_right_and_a_reason(people, engagement):
    for role, reason, refusal in ((Role.CONSULTANT, "x", NotAllowed), (Role.MANAGER, "",
                                                                       InvalidInput)):
        with pytest.raises(refusal):
            services.queue_job(actor=people[role], kind="env.npu_info", engagement=engagement,
                               priority=Priority.URGENT, priority_reason=reason)


def test_a_job_is_tried_again_once(queue, people):
    job, consultant = in_state(queue("exit 3"), JobState.FAILED), people[Role.CONSULTANT]
    again = services.retry_job(actor=consultant, job=job)
    assert allowed_moves(consultant, TRANSITIONS, job) == []
    with override("en"), pytest.raises(WrongState, match=f"tried again already: job #{again.pk}"):
        services.retry_job(actor=consultant, job=job)
