"""What becomes of jobs when their model is dropped, and of a failure when a rerun succeeds."""

import pytest
from django.utils import timezone

from engagements import services as engagement_services
from engagements.models import Role
from workers.models import Job, JobState

pytestmark = pytest.mark.django_db
KIND = "env.npu_info"


@pytest.fixture
def model(people, engagement):
    return add_model(people, engagement, "LLM")


def add_model(people, engagement, code):
    return engagement_services.add_model(actor=people[Role.MANAGER], engagement=engagement,
                                         code=code, name=code)


def job(of, state, **more):
    ended = None if state in (JobState.RUNNING, JobState.QUEUED) else timezone.now()
    return Job.objects.create(**{"kind": KIND, "engagement": of.engagement, "model": of,
                                 "state": state, "stage": "env", "finished_at": ended, **more})


def test_a_dropped_model_ends_its_jobs_and_no_other(people, model):
    other = add_model(people, model.engagement, "OTHER")
    running, done, foreign = (job(model, JobState.RUNNING), job(model, JobState.SUCCEEDED),
                              job(other, JobState.QUEUED))
    engagement_services.drop_model(actor=people[Role.MANAGER], model=model, reason="合并")
    asked = set(Job.objects.exclude(cancel_requested_at=None).values_list("pk", flat=True))
    assert asked == {running.pk}
    assert {done.pk, foreign.pk}.isdisjoint(asked)


def test_jobs_of_a_skipped_stage_go_on(people, model):
    """The model goes on, and what they measure stands; who wants an end cancels them."""
    running = job(model, JobState.RUNNING)
    engagement_services.move_stage(actor=people[Role.MANAGER], comment="客户自备环境", move="skip",
                                   record=model.stages.get(stage="env"))
    running.refresh_from_db()
    assert running.cancel_requested_at is None


@pytest.mark.parametrize(("rerun", "is_open"), [
    ({}, False), ({"state": JobState.FAILED}, True), ({"stage": "design"}, True),
    ({"kind": "env.health"}, True)])
def test_a_rerun_that_succeeded_clears_the_failure(model, rerun, is_open):
    failed = job(model, JobState.FAILED)
    job(model, **{"state": JobState.SUCCEEDED, **rerun})
    assert Job.objects.in_trouble().filter(pk=failed.pk).exists() is is_open


def test_a_failure_after_a_success_needs_action(model):
    job(model, JobState.SUCCEEDED)
    failed = job(model, JobState.FAILED)
    assert list(Job.objects.in_trouble()) == [failed]


def test_a_job_without_a_model_clears_nothing(model):
    failed = job(model, JobState.FAILED)
    job(model, JobState.SUCCEEDED, model=None)
    assert list(Job.objects.in_trouble()) == [failed]
