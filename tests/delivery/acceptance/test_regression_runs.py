"""Accepted runs are repeated on another release: what moved is shown, no verdict changes."""

import pytest
from django.urls import reverse
from django.utils import timezone

from assessments.models import Measurement, Verdict
from delivery.acceptance.regression_comparison import moved
from delivery.acceptance.services.regression_runs import start_regression
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, MigratedModel, Role
from tests.delivery.conftest import api_client, loss_log, stored
from workers.models import Job, JobState, Node
from workers.signals import job_succeeded

PROBE = "env.host_probe"  # asks for no cards and no parameters


@pytest.fixture
def newer(delivered):
    """A node with the next release; the accepted run's kind is one that the node can repeat."""
    Job.objects.filter(engagement=delivered, state="succeeded").update(kind=PROBE, parameters={})
    return Node.objects.create(name="bms-02", host="10.0.0.9", username="desk",
                               software={"cann": "8.2.RC1"}, state=Node.State.READY)


@pytest.fixture
def start(people, newer):
    return lambda **fields: start_regression(**{
        "actor": people[Role.CONSULTANT], "model": MigratedModel.objects.get(code="LLM"),
        "node": newer, "release": "CANN 8.2.RC1", **fields})


def finish(run, scale: float) -> Job:
    """The repeat ends as the runner ends it, with the loss curve that it brought."""
    [pair] = run.jobs.all()
    job = pair.repeated
    job.state, job.finished_at = JobState.SUCCEEDED, timezone.now()
    job.save()
    stored(run.engagement, run.model, f"again_{scale}.csv", loss_log(scale=scale), job=job)
    job_succeeded.send(sender=Job, job=job, readings=[])
    return job


def test_only_an_accepted_model_is_repeated(start):
    with pytest.raises(WrongState):
        start()


def test_a_repeat_is_compared_and_bears_on_no_verdict(delivered, act, start, people, client):
    review = act.open(delivered)
    act.decide(review)
    act.sign(review)
    with pytest.raises(InvalidInput):
        start(release=" ")
    with pytest.raises(NotAllowed):
        start(actor=people[Role.REVIEWER])
    run = start()
    [pair] = run.jobs.all()
    assert (pair.repeated.kind, pair.repeated.node.name, pair.repeated.is_regression) == (
        PROBE, "bms-02", True)
    rows = moved(run)
    assert {(row.repeated, row.outcome, row.change) for row in rows} == {(None, None, None)}
    before = Verdict.objects.count()
    finish(run, scale=1.5)
    assert Measurement.objects.filter(job=pair.repeated).exists()
    assert Verdict.objects.count() == before
    found = {row.criterion.definition.code: row for row in moved(run)}
    mean = found["loss_mean_relative_error"]
    assert (mean.accepted.outcome, mean.outcome.outcome, mean.is_other) == (
        "passed", "failed", True)
    assert ("cann", "8.2.RC1") in {(name, after) for name, _before, after in mean.environment}
    assert AuditEntry.objects.get(action="regression.start").data["release"] == "CANN 8.2.RC1"
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("acceptance:regression_run", args=[run.pk])).content.decode()
    assert "8.2.RC1" in page
    listed = client.get(reverse("acceptance:regression_runs", args=[delivered.code]))
    assert str(run) in listed.content.decode()
    [shown] = api_client(people[Role.CONSULTANT]).get("/api/v1/regression-runs/").json()["results"]
    assert {row["repeated_outcome"] for row in shown["moved"]} >= {"failed"}


def test_a_model_without_accepted_figures_of_a_job_has_nothing_to_repeat(
        delivered, act, start):
    review = act.open(delivered)
    act.decide(review)
    act.sign(review)
    with pytest.raises(InvalidInput):
        start(model=MigratedModel.objects.get(code="PSR"))


def test_strangers_know_of_no_run(delivered, act, start, outside):
    review = act.open(delivered)
    act.decide(review)
    act.sign(review)
    run = start()
    assert outside.get(f"/api/v1/regression-runs/{run.pk}/").status_code == 404
