"""The table of what people may do with a job: every state, move and role."""

import pytest
from django.utils import timezone
from django.utils.translation import override

from engagements.errors import WrongState
from engagements.models import Role
from engagements.moves import allowed_moves
from tests.transition_cases import check_coverage, check_state, grid
from workers import services
from workers.dispatch.transitions import TRANSITIONS
from workers.models import Job, JobState

WORKERS = "administrator manager consultant"
AGREED = grid(f"""
    queued staging leasing starting running collecting reading unknown: {WORKERS} = cancel
    failed cancelled timed_out lost: {WORKERS} = retry
""")
NODE_JOBS = grid("""
    running: administrator operator = cancel
    failed: administrator operator = retry
""")
SERVICES = {"cancel": services.cancel_job, "retry": services.retry_job}


def in_state(job: Job, state: str, **columns) -> Job:
    Job.objects.filter(pk=job.pk).update(state=state, finished_at=timezone.now(), **columns)
    return Job.objects.get(pk=job.pk)


def make(person, job, move):
    SERVICES[move](actor=person, job=job)


@pytest.mark.parametrize("state", JobState.values)
def test_every_move_in_every_state_by_every_role(queue, people, state):
    job = in_state(queue("exit 3"), state)
    check_state(TRANSITIONS, AGREED, people, job, make, f"/api/v1/jobs/{job.pk}/")


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.FAILED])
def test_jobs_of_no_engagement_are_for_who_operates(queue, people, state):
    job = in_state(queue("exit 3"), state, engagement=None)
    check_state(TRANSITIONS, NODE_JOBS, people, job, make, f"/api/v1/jobs/{job.pk}/")


def test_the_grid_names_every_move():
    check_coverage(TRANSITIONS, AGREED, JobState.values)


def test_a_job_is_tried_again_once(queue, people):
    job, consultant = in_state(queue("exit 3"), JobState.FAILED), people[Role.CONSULTANT]
    again = services.retry_job(actor=consultant, job=job)
    assert allowed_moves(consultant, TRANSITIONS, job) == []
    with override("en"), pytest.raises(WrongState, match=f"tried again already: job #{again.pk}"):
        services.retry_job(actor=consultant, job=job)
