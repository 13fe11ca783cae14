"""What a whole job costs: statements to the database, and entries in the audit log."""

import time
from contextlib import contextmanager

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engagements.audit import audit_log
from engagements.models import AuditEntry, Engagement
from workers import services
from workers.dispatch import node_polling, runner
from workers.models import Job, JobState

pytestmark = pytest.mark.django_db(transaction=True)
LOSSES = r"printf 'step,loss\n1,2.0\n2,1.5\n' > loss.txt"


@contextmanager
def counted(entries: list[str], most: int):
    """No more statements than `most`, and exactly these entries in the log."""
    before = AuditEntry.objects.count()
    with CaptureQueriesContext(connection) as asked:
        yield
    reported = AuditEntry.objects.order_by("pk").values_list("action", flat=True)[before:]
    texts = [query["sql"] for query in asked if not query["sql"].startswith("SET ")]
    assert (list(reported), len(texts) <= most) == (entries, True), "\n".join(
        [f"{len(texts)} statements", *texts])


def test_a_job_that_ends_at_once(queue, node, engagement):
    Engagement.objects.update(has_practice_data=True)  # else by the first job of an engagement
    with counted(["job.queue"], most=17):
        job = queue("echo one")
    with counted(["job.end"], most=35):
        node_polling.poll_nodes([node.pk])
    assert Job.objects.get(pk=job.pk).state == JobState.SUCCEEDED
    rows = AuditEntry.objects.get(action="job.end").rows
    assert {table: len(held) for table, held in rows.items()} == {
        "workers.artifact": 1, "workers.job": 1}
    assert list(audit_log.row_differences()) == []


def test_readings_of_a_job_stand_in_one_entry(queue, node):
    job = queue(f"{LOSSES}; cp loss.txt again.txt")
    node_polling.poll_nodes([node.pk])
    with counted(["artifact.store", "artifact.read", "job.end"], most=57):
        runner.advance_while_due(job.pk)
    entry = AuditEntry.objects.get(action="artifact.read")
    assert len(entry.rows["workers.storedreading"]) == entry.data["files"] == 2
    assert list(audit_log.row_differences()) == []


def test_a_job_that_runs_writes_nothing_to_the_log(queue, node):
    """Polled, its log fetched, its heartbeat kept: nothing that the log is asked about, once its
    cards are leased."""
    job = queue("while :; do date; sleep 0.2; done", cards=1)
    with counted(["cards.lease"], most=27):  # the claim locks by key, in a transaction
        node_polling.poll_nodes([node.pk])
    for _poll in range(4):
        time.sleep(0.4)
        with counted([], most=5):
            node_polling.poll_nodes([node.pk])
    job.refresh_from_db()
    assert (job.state, job.log_offset > 0) == (JobState.RUNNING, True)
    assert list(audit_log.row_differences()) == []
    with counted(["job.cancel", "artifact.store", "job.end"], most=80):  # by polls
        services.cancel_job(actor=job.created_by, job=job)
        assert runner.drive(job).state == JobState.CANCELLED
    assert list(audit_log.row_differences()) == []
