"""How a job goes is a statement from its end on; what it is to do, from the start."""

import pytest
from django.db import connection
from django.utils import timezone

from engagements.audit import audit_log
from engagements.audit_rows import row_values
from engagements.models import AuditEntry, Role
from workers.models import Job, JobState
from workers.services import cancel_job

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def job(people, engagement):
    made = Job.objects.create(kind="env.npu_info", engagement=engagement, parameters={"cards": 8},
                              created_by=people[Role.CONSULTANT])
    audit_log.record(actor=people[Role.CONSULTANT], action="job.queue", target=made)
    return made


@pytest.fixture
def ended(job):
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, exit_status=1, finished_at=NOW)
    audit_log.record(actor=None, action="job.end", target=job)
    return job


def after(job, **columns) -> list[tuple]:
    """What is found after columns were changed behind the application's back."""
    names = ", ".join(f"{name} = %s" for name in columns)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE workers_job SET {names} WHERE id = %s", [*columns.values(), job.pk])
    return [(one.key, one.problem, one.columns) for one in audit_log.row_differences()]


def test_parameters_that_look_like_secrets_are_not_in_clear_in_the_log(job, monkeypatch):
    job.parameters = {"HF_TOKEN": "quite-short"}
    with monkeypatch.context() as older:  # an entry of before
        older.setattr(row_values, "mask_tree", lambda value: value)
        job.save()
        clear = audit_log.record(actor=None, action="job.queue", target=job)
    assert "quite-short" in str(clear.rows)
    assert list(audit_log.row_differences()) == []
    job.save()
    entry = audit_log.record(actor=None, action="job.queue", target=job)
    assert "quite-short" not in str(entry.rows)
    assert list(audit_log.row_differences()) == []
    assert after(job, parameters='{"HF_TOKEN": "another"}') == [
        (str(job.pk), "changed", ("parameters",))]


@pytest.mark.parametrize("columns", [
    {"state": JobState.RUNNING}, {"message": "x"}, {"started_at": NOW}, {"results": "{}"},
    {"log_offset": 7, "claim_token": "a", "heartbeat_at": NOW}])
def test_how_an_open_job_goes_is_no_statement(job, columns):
    assert after(job, **columns) == []


@pytest.mark.parametrize("columns", [
    {"kind": "x"}, {"parameters": '{"cards": 1}'}, {"command": '["rm"]'}, {"timeout_seconds": 1}])
def test_what_a_job_is_to_do_is_one_from_the_start(job, columns):
    assert after(job, **columns) == [(str(job.pk), "changed", tuple(columns))]


def test_a_job_ended_behind_the_back_is_named(job):
    assert after(job, state=JobState.SUCCEEDED, finished_at=NOW) == [
        (str(job.pk), "changed", ("state",))]


@pytest.mark.parametrize("columns", [
    {"state": JobState.SUCCEEDED}, {"state": JobState.RUNNING}, {"exit_status": 0},
    {"message": "x"}, {"results": '{"cards": []}'}])
def test_how_a_job_ended_is_a_statement(ended, columns):
    assert after(ended, **columns) == [(str(ended.pk), "changed", tuple(columns))]


def test_an_entry_about_an_open_job_says_nothing_of_how_it_goes(job, people):
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, results={"cards": [1]})
    cancel_job(actor=people[Role.CONSULTANT], job=job)
    sentence = AuditEntry.objects.get(action="job.cancel").rows["workers.job"][str(job.pk)]
    assert sentence["cancel_requested_at"]
    assert {"state", "results", "log_offset"} & sentence.keys() == set()


def test_machine_state_makes_no_entry(job, django_assert_num_queries,
                                      django_capture_on_commit_callbacks):
    before = AuditEntry.objects.count()
    with django_capture_on_commit_callbacks(execute=True) as noted, django_assert_num_queries(4):
        Job.objects.filter(pk=job.pk).update(claim_token="a", heartbeat_at=NOW)
        Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, results={"cards": [1]})
        job.state, job.log_offset = JobState.RUNNING, 9
        job.save(update_fields=["state", "log_offset"])
        Job.objects.bulk_update([job], ["log_offset", "next_step_at"])
    assert (noted, AuditEntry.objects.count()) == ([], before)


def test_a_result_written_without_the_state_is_noted(job, django_capture_on_commit_callbacks):
    """It may be one of a job that has ended."""
    with django_capture_on_commit_callbacks() as noted:
        Job.objects.filter(pk=job.pk).update(results={"cards": [1]})
    assert [(note.table, note.key) for note in noted] == [(Job, job.pk)]
