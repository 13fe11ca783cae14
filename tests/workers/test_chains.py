"""Chains: each job that succeeds queues the next, in its own transaction."""

import pytest
from django.utils.translation import override

from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry
from engagements.services import add_model
from practice_node.faults import set_faults
from workers import services
from workers.dispatch import runner
from workers.models import ChainRun, Job, JobState
from workers.services import chains

SURVEY = [
    {"kind": "survey.pt_analyse", "parameters": {"source": "~/data/inspect_net"}},
    {"kind": "adapt.gpu2npu", "parameters": {"source": "~/data/inspect_net"},
     "condition": {"result": "unsupported", "test": "above", "value": 0}},
]


@pytest.fixture
def models(people, engagement):
    return [add_model(actor=people["manager"], engagement=engagement, code=code, name=code)
            for code in ("DET", "SEG")]


@pytest.fixture
def start(people, node, models):
    def go(steps, count=1):
        chain = chains.save_chain(actor=people["consultant"], name="survey", steps=steps)
        return chains.start_chain(actor=people["consultant"], chain=chain, models=models[:count],
                                  node=node)

    return go


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_chain_runs_to_its_end_for_every_model(start):
    for run in start(SURVEY, count=2):
        first = runner.drive(run.jobs.get().job)
        assert first.state == JobState.SUCCEEDED
        assert first.results["unsupported"] > 0
        second = runner.drive(run.jobs.get(position=1).job)
        assert (second.kind, second.model) == ("adapt.gpu2npu", run.model)
        run.refresh_from_db()
        assert run.finished_at
        assert "2" in run.sentence
    for action in ("chain.step", "chain.end"):
        assert AuditEntry.objects.filter(action=action).count() == 2
    assert list(audit_log.row_differences()) == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_unmet_condition_ends_the_run(start):
    steps = [SURVEY[0], {**SURVEY[1],
                         "condition": {"result": "unsupported", "test": "below", "value": 0}}]
    [run] = start(steps)
    runner.drive(run.jobs.get().job)
    run.refresh_from_db()
    assert run.finished_at
    assert run.jobs.count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_failure_stops_the_run_and_a_second_try_goes_on(start, people, ssh_server):
    set_faults(ssh_server.root / "home", analysis_error=True)
    [run] = start(SURVEY)
    failed = runner.drive(run.jobs.get().job)
    assert failed.state == JobState.FAILED
    with override("en"):
        assert (run.jobs.count(), run.state_text) == (1, "Stopped")
    set_faults(ssh_server.root / "home")
    again = runner.drive(services.retry_job(actor=people["consultant"], job=failed))
    assert run.jobs.get(position=0).job == again
    assert run.jobs.get(position=1).job.kind == "adapt.gpu2npu"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_node_that_is_not_ready_ends_the_run_but_not_the_job(start, node, people):
    [run] = start(SURVEY)
    job = run.jobs.get().job
    runner.advance_while_due(job.pk, most=3)
    while Job.objects.get(pk=job.pk).state != JobState.READING:
        runner.advance_while_due(job.pk, most=1)
    services.set_maintenance(actor=people["operator"], node=node, is_on=True)
    assert runner.drive(job).state == JobState.SUCCEEDED
    run.refresh_from_db()
    assert run.finished_at
    assert node.name in run.sentence
    assert run.jobs.count() == 1


@pytest.mark.parametrize(("steps", "word"), [
    ([{"kind": "no.such"}], "no.such"),
    ([SURVEY[0], {"kind": "adapt.gpu2npu"}], "Step 2"),
    ([SURVEY[0], {**SURVEY[1], "condition": {"result": "x", "test": "like"}}], "Step 2"),
    ([], "1 to 20"),
])
def test_wrong_chain_is_refused_with_its_step(people, steps, word):
    with override("en"), pytest.raises(InvalidInput, match=word):
        chains.save_chain(actor=people["consultant"], name="wrong", steps=steps)


def test_reviewer_and_stranger_cannot_start(people, stranger, models, node):
    chain = chains.save_chain(actor=people["consultant"], name="survey", steps=SURVEY)
    for actor in (people["reviewer"], stranger):
        with pytest.raises(NotAllowed):
            chains.start_chain(actor=actor, chain=chain, models=models, node=node)
    assert not ChainRun.objects.exists()


def test_one_model_that_cannot_start_starts_none(people, models, node):
    chain = chains.save_chain(actor=people["consultant"], name="survey", steps=SURVEY)
    node = services.set_maintenance(actor=people["operator"], node=node, is_on=True)
    with pytest.raises(WrongState, match=node.name):
        chains.start_chain(actor=people["consultant"], chain=chain, models=models, node=node)
    assert not Job.objects.exists()


@pytest.mark.parametrize(("condition", "results", "expected"), [
    (None, {}, True),
    ({"result": "n", "test": "above", "value": "2"}, {"n": 3}, True),
    ({"result": "n", "test": "above", "value": "3"}, {"n": 3}, False),
    ({"result": "n", "test": "is", "value": "3"}, {"n": 3.0}, True),
    ({"result": "n", "test": "is_not", "value": "AIC"}, {"n": "AIC"}, False),
    ({"result": "n", "test": "below", "value": "x"}, {"n": 1}, False),
    ({"result": "missing", "test": "is_not", "value": "1"}, {"n": 1}, False),
])
def test_condition(condition, results, expected):
    assert chains.is_met(condition, results) is expected


def test_model_code_takes_its_place_in_parameters(people, models, node):
    steps = [{"kind": "adapt.ckpt_check", "parameters": {"folder": "~/ckpt/{model}"}}]
    chain = chains.save_chain(actor=people["consultant"], name="weights", steps=steps)
    [run] = chains.start_chain(actor=people["consultant"], chain=chain, models=models[:1],
                               node=node)
    assert run.jobs.get().job.parameters["folder"] == "~/ckpt/DET"


def test_pages_save_and_start(client, people, models, node):
    client.force_login(people["consultant"])
    answer = client.post("/jobs/chains/new/", {
        "name": "survey", "steps-TOTAL_FORMS": 2, "steps-INITIAL_FORMS": 0,
        "steps-0-kind": "survey.pt_analyse", "steps-0-parameters": "source = ~/data/inspect_net",
        "steps-1-kind": "adapt.gpu2npu", "steps-1-parameters": "source = ~/data/inspect_net",
        "steps-1-test": "above", "steps-1-result": "unsupported", "steps-1-value": "0"})
    assert answer.status_code == 302
    page = client.get(answer.url).content.decode()
    assert "unsupported" in page
    client.post(answer.url + "start/", {"models": [m.pk for m in models], "node": node.pk})
    assert {run.model.code for run in ChainRun.objects.all()} == {"DET", "SEG"}
    run = ChainRun.objects.first()
    assert f"#{run.jobs.get().job.pk}" in client.get(f"/jobs/chain-runs/{run.pk}/").content.decode()


def test_api_saves_and_starts(people, models, node):
    from rest_framework.test import APIClient

    api = APIClient()
    api.force_authenticate(people["consultant"])
    chain = api.post("/api/v1/job-chains/", {"name": "s", "steps": SURVEY}, format="json").json()
    answer = api.post(f"/api/v1/job-chains/{chain['id']}/start/",
                      {"models": [models[0].pk], "node": node.pk}, format="json")
    assert (answer.status_code, len(answer.json()[0]["jobs"])) == (201, 1)
    api.force_authenticate(people["reviewer"])
    assert api.get("/api/v1/job-chains/").status_code == 403
    assert api.get("/api/v1/chain-runs/").json()["results"] == []


@pytest.mark.django_db
def test_a_step_names_its_runtime(people, node, models, client):
    from workers.services import runtimes

    own = runtimes.save_runtime(actor=people["operator"], name="cann", place="host",
                                options={"nice": 5})
    steps = [{**SURVEY[0], "runtime": own.pk}, SURVEY[1]]
    chain = chains.save_chain(actor=people["consultant"], name="survey", steps=steps)
    assert [step.get("runtime") for step in chain.steps] == [own.pk, None]
    [run] = chains.start_chain(actor=people["consultant"], chain=chain, models=models[:1],
                               node=node)
    assert (run.jobs.get().job.runtime["id"], run.jobs.get().job.runtime_name) == (own.pk, "cann")
    client.force_login(people["consultant"])
    assert "cann" in client.get(f"/jobs/chains/{chain.pk}/").content.decode()
    with pytest.raises(InvalidInput, match="4711"):
        chains.save_chain(actor=people["consultant"], name="none",
                          steps=[{**SURVEY[0], "runtime": 4711}])
