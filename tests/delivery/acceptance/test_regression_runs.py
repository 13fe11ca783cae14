"""Accepted runs are repeated on another release: what moved is shown, no verdict changes."""

import pytest
from django.urls import reverse
from django.utils import timezone

from assessments import services
from assessments.models import Measurement, Verdict
from delivery.acceptance.models import RegressionRun
from delivery.acceptance.regression_comparison import moved, moved_figures
from delivery.acceptance.services.regression_runs import start_regression
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Engagement, MigratedModel, Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.conftest import api_client, loss_log, stored
from workers.models import ChainRun, ChainStep, Job, JobState, Node
from workers.services.chains import save_chain
from workers.signals import job_succeeded

PROBE = "env.host_probe"  # asks for no cards and no parameters


@pytest.fixture
@cached_fixture
def accepted(review, act) -> Engagement:
    """The customer has signed what was delivered."""
    act.decide(review)
    act.sign(review)
    return Engagement.objects.get(pk=review.document.engagement_id)


@pytest.fixture
@cached_fixture
def newer(delivered):
    """A node with the next release; the accepted run's kind is one that the node can repeat."""
    Job.objects.filter(engagement=delivered, state="succeeded").update(kind=PROBE, parameters={})
    return Node.objects.create(name="bms-02", host="10.0.0.9", username="desk",
                               software={"cann": "8.2.RC1"}, state=Node.State.READY, cards_total=8)


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


@pytest.mark.slow
def test_a_repeat_is_compared_and_bears_on_no_verdict(accepted, start, people, client):
    with pytest.raises(InvalidInput):
        start(release=" ")
    with pytest.raises(NotAllowed):
        start(actor=people[Role.REVIEWER])
    run = start()
    [pair] = run.jobs.all()
    assert (pair.repeated.kind, pair.repeated.node.name, pair.repeated.is_regression) == (
        PROBE, "bms-02", True)
    rows = moved(run)
    assert {(row.after, row.outcome, row.change) for row in rows} == {(None, None, None)}
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
    listed = client.get(reverse("acceptance:regression_runs", args=[accepted.code]))
    assert str(run) in listed.content.decode()
    [shown] = api_client(people[Role.CONSULTANT]).get("/api/v1/regression-runs/").json()["results"]
    assert {row["repeated_outcome"] for row in shown["moved"]} >= {"failed"}


def test_a_model_without_accepted_figures_of_a_job_has_nothing_to_repeat(accepted, start):
    with pytest.raises(InvalidInput):
        start(model=MigratedModel.objects.get(code="PSR"))


def test_strangers_know_of_no_run(accepted, start, outside):
    run = start()
    assert outside.get(f"/api/v1/regression-runs/{run.pk}/").status_code == 404


def training_log(milliseconds: float) -> bytes:
    """A log of Megatron whose steps took so long."""
    return "".join(
        f" [2025-06-24 10:00:{n:02}] iteration {n}/ 5 | consumed samples: {n * 64} | elapsed time "
        f"per iteration (ms): {milliseconds:.1f} | global batch size: 64 | lm loss: 2.{n}E+00 | "
        "loss scale: 1.0 | grad norm: 0.9 | number of skipped iterations: 0 | number of nan "
        "iterations: 0 |\n" for n in range(1, 6)).encode()


@pytest.fixture
def in_chain(newer, people):
    """The accepted run is the second step of a chain, whose first step prepared it."""
    judged = Job.objects.get(engagement__models__code="LLM", model__code="LLM",
                               state="succeeded")
    chain = save_chain(actor=people[Role.CONSULTANT], name="convert and measure",
                       steps=[{"kind": PROBE, "name": "convert"}, {"kind": PROBE, "name": "bench"}])
    run = ChainRun.objects.create(chain=chain, model=judged.model, node=judged.node,
                                  steps=chain.steps, started_by=people[Role.CONSULTANT])
    first = Job.objects.create(kind=PROBE, engagement=judged.engagement, model=judged.model,
                               node=judged.node, state="succeeded", finished_at=timezone.now())
    ChainStep.objects.create(run=run, position=0, job=first)
    ChainStep.objects.create(run=run, position=1, job=judged)
    return run


@pytest.mark.slow
def test_a_chain_is_repeated_from_its_first_step(
        accepted, in_chain, newer, start, people, client):
    run = start()
    [pair] = run.jobs.all()
    again = pair.chain_run
    assert (pair.repeated, pair.position, pair.repeating) == (None, 1, None)
    assert (again.is_regression, again.node, again.chain) == (True, newer, in_chain.chain)
    first = again.jobs.get().job
    assert (first.is_regression, first.node, first.kind) == (True, newer, PROBE)
    client.force_login(people[Role.CONSULTANT])
    page = reverse("acceptance:regression_run", args=[run.pk])
    assert "waiting for the steps before it" in client.get(
        page, headers={"accept-language": "en"}).content.decode()
    [listing] = api_client(people[Role.CONSULTANT]).get(
        "/api/v1/regression-runs/").json()["results"]
    assert {row["repeated_job"] for row in listing["moved"]} == {None}
    first.state, first.finished_at = JobState.SUCCEEDED, timezone.now()
    first.save()
    job_succeeded.send(sender=Job, job=first, readings=[])
    second = again.jobs.get(position=1).job
    assert second.is_regression
    before = Verdict.objects.count()
    second.state, second.finished_at = JobState.SUCCEEDED, timezone.now()
    second.save()
    stored(accepted, run.model, "again.csv", loss_log(scale=1.5), job=second)
    job_succeeded.send(sender=Job, job=second, readings=[])
    found = {row.criterion.definition.code: row for row in moved(RegressionRun.objects.get())}
    assert found["loss_mean_relative_error"].is_other
    assert Verdict.objects.count() == before
    assert f"#{second.pk}" in client.get(page).content.decode()


@pytest.fixture
@cached_fixture
def timed(delivered, act, newer, start):
    """A repeat of a model that was accepted with an iteration time; it has no figures yet."""
    judged = Job.objects.get(model__code="LLM", state="succeeded")
    stored(delivered, judged.model, "speed.log", training_log(1000), job=judged)
    services.measure_artifact(judged.artifacts.get(name="speed.log"))
    review = act.open(delivered)
    act.decide(review)
    act.sign(review)
    return start()


@pytest.mark.parametrize(("milliseconds", "direction", "change"), [
    (800.0, "better", -20), (1300.0, "worse", 30), (1010.0, "unchanged", 1)])
def test_every_figure_is_shown_with_its_change(
        timed, people, client, milliseconds, direction, change):
    run = timed
    waiting = {row.before.quantity: row for row in moved_figures(run)}
    assert (waiting["iteration_time_ms"].after, waiting["iteration_time_ms"].direction) == (
        None, "")
    job = finish(run, scale=1.004)
    stored(run.engagement, run.model, "speed_again.log", training_log(milliseconds), job=job)
    services.measure_artifact(job.artifacts.get(name="speed_again.log"))
    row = {row.before.quantity: row for row in moved_figures(run)}["iteration_time_ms"]
    assert (row.direction, round(row.change_percent, 6)) == (direction, change)
    client.force_login(people[Role.CONSULTANT])
    text = client.get(reverse("acceptance:regression_run", args=[run.pk])).content.decode()
    assert f"{change:+.2f} %" in text
    [listing] = api_client(people[Role.CONSULTANT]).get(
        "/api/v1/regression-runs/").json()["results"]
    assert {row["quantity"]: row["direction"] for row in listing["figures"]}[
        "iteration_time_ms"] == direction
