"""Places in the steps of chains, chains that come with the product, and going on after a stop."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import override

from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import MigratedModel
from engagements.services import add_model
from practice_node.faults import set_faults
from workers import kinds
from workers.dispatch import runner
from workers.jobs import chain_overview, chain_places, shipped_chains
from workers.models import ChainRun, Job, JobState, Node
from workers.services import chains

CONVERT = {"kind": "inf.mslite", "name": "convert",
           "parameters": {"model_file": "{given.model_file}"}}
MEASURE = {"kind": "inf.lite_bench", "parameters": {
    "model_file": "{steps.convert.files.*.mindir}", "package": "~/projects/mindspore-lite",
    "loops": 5}}
GIVEN = {"model_file": "~/data/model.onnx", "package": "~/projects/mindspore-lite"}


@pytest.fixture(autouse=True)
def _in_english():
    kinds.load_all()
    with override("en"):
        yield


@pytest.fixture
def model(people, engagement):
    return add_model(actor=people["manager"], engagement=engagement, code="DET", name="DET",
                     framework="MindSpore 2.3", inference_route="mindspore_lite")


@pytest.fixture
def left(model, node):
    """A job that succeeded and left files; nothing ran."""
    def of(kind="inf.atc", names=("log.txt", "model.om"), **results):
        from django.core.files.base import ContentFile

        from workers.artifacts.artifact_store import store_file

        job = Job.objects.create(kind=kind, engagement=model.engagement, model=model, node=node,
                                 state=JobState.SUCCEEDED, results=results,
                                 finished_at=timezone.now())
        for name in names:
            store_file(stream=ContentFile(name.encode()), name=name, job=job,
                       engagement=model.engagement)
        return job
    return of


def filled(text, job=None, kind="inf.om_bench", parameter="model_file"):
    known = chain_places.Known("DET", {"source": "~/net"}, {"convert": job} if job else {})
    return chain_places.filled_values(kind, {parameter: text}, known)[parameter]


@pytest.mark.django_db
def test_places_are_filled_from_the_steps_before(left):
    job = left(n=7)
    assert filled("~/{model}.om") == "~/DET.om"
    assert filled("{given.source}") == "~/net"
    assert filled("{steps.convert.files.*.om}", job) == f"desk:job/{job.pk}/model.om"
    assert filled("{steps.convert.folder}/x", job) == f"desk:work/{job.pk}/x"
    assert filled("{steps.convert.results.n}", job) == "7"
    assert filled("{steps.convert.job}", job) == str(job.pk)
    log = job.artifacts.get(name="log.txt").pk
    assert filled("{steps.convert.files.log.txt}", job, "perf.throughput", "log") == str(log)


@pytest.mark.django_db
def test_a_folder_of_stored_files_and_what_a_kind_hands_over(left):
    job = left("acc.dump", ("dump/step0/rank0/dump.json",))
    assert filled("{steps.convert.files.dump/step0}", job) == f"desk:job/{job.pk}/dump/step0"
    assert filled("{steps.convert.output}", job) == f"desk:job/{job.pk}/dump/step0"


@pytest.mark.django_db
@pytest.mark.parametrize(("text", "why"), [
    ("{given.entry}", "“entry” was not given"), ("{steps.train.folder}", "has not run"),
    ("{steps.convert.files.*.mindir}", "left no file"),
    ("{steps.convert.results.rows}", "has no result")])
def test_what_is_missing_is_named(left, text, why):
    with pytest.raises(InvalidInput, match=why):
        filled(text, left())


@pytest.mark.django_db
@pytest.mark.parametrize(("steps", "why"), [
    ([MEASURE, CONVERT], "Step 1: there is no earlier step “convert”"),
    ([CONVERT, {**MEASURE, "name": "convert"}], "Step 2: “convert” is not a valid unique name"),
    ([{**CONVERT, "name": "Not a name"}], "not a valid unique name")])
def test_wrong_names_are_refused(people, steps, why):
    with pytest.raises(InvalidInput, match=why):
        chains.save_chain(actor=people["consultant"], name="wrong", steps=steps)


def test_every_shipped_chain_is_accepted_by_its_kinds():
    for chain in shipped_chains.CHAINS:
        steps = chains.checked([dict(step) for step in chain.steps])
        assert set(chain_places.given_in(steps)) <= set(shipped_chains.GIVEN), chain.code


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_file_of_a_step_feeds_the_next(people, model, node):
    [run] = chains.start_shipped(actor=people["consultant"], code="mindspore_lite",
                                 models=[model], node=node, given=GIVEN)
    first = runner.drive(run.jobs.get().job)
    assert first.state == JobState.SUCCEEDED, first.sentence
    second = runner.drive(run.jobs.get(position=1).job)
    assert second.inputs.get().reference == f"desk:job/{first.pk}/model.mindir"
    assert second.state == JobState.SUCCEEDED, second.sentence
    run.refresh_from_db()
    assert run.sentence == "All 2 steps succeeded."
    with pytest.raises(WrongState):
        chains.resume_run(actor=people["consultant"], run=run)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_run_that_stopped_goes_on_where_it_stopped(people, model, node, ssh_server):
    set_faults(ssh_server.root / "home", conversion_error=True)
    [run] = chains.start_shipped(actor=people["consultant"], code="mindspore_lite",
                                 models=[model], node=node, given=GIVEN)
    assert runner.drive(run.jobs.get().job).state == JobState.FAILED
    [row] = chain_overview.rows(model.engagement)
    lite = next(entry for entry in row["chains"] if entry["code"] == "mindspore_lite")
    assert lite["may_resume"]
    assert {field["name"]: field["value"] for field in lite["given"]} == GIVEN
    assert (run.state_text, run.sentence.partition(" is")[0]) == (
        "Stopped", f"It stopped at step 1 of 2: job {run.jobs.get().job_id}")
    set_faults(ssh_server.root / "home")
    chains.resume_run(actor=people["consultant"], run=run)
    run = ChainRun.objects.get()
    assert (run.state_text, run.sentence) == ("Running", (
        f"It waits for step 1 of 2: job {run.jobs.get().job_id} is “Queued”. "
        "Queued; a worker will pick it up shortly."))
    again = run.jobs.get().job
    assert runner.drive(again).state == JobState.SUCCEEDED
    assert run.jobs.get(position=1).job.kind == "inf.lite_bench"


@pytest.mark.django_db
def test_what_must_be_given_is_asked_for_and_strangers_start_nothing(people, stranger, model,
                                                                       node):
    with pytest.raises(InvalidInput, match="give: Model file on the node, Folder of MindSpore"):
        chains.start_shipped(actor=people["consultant"], code="mindspore_lite", models=[model],
                             node=node)
    with pytest.raises(NotAllowed):
        chains.start_shipped(actor=stranger, code="mindspore_lite", models=[model], node=node,
                             given=GIVEN)
    assert not ChainRun.objects.exists()


@pytest.mark.django_db
def test_the_page_starts_a_chain_with_one_click(client, people, model, node):
    client.force_login(people["consultant"])
    address = f"/engagements/{model.engagement.code}/chains/"
    page = client.get(address).content.decode()
    assert "MindSpore Lite：转换与测试" in page
    assert "PyTorch：精度比对" not in page
    client.post(f"{address}start/", {
        "model": model.pk, "chain": "mindspore_lite", "node": node.pk,
        **{f"given-{name}": value for name, value in GIVEN.items()}})
    run = ChainRun.objects.get()
    assert (run.given, run.chain.code) == (GIVEN, "mindspore_lite")
    assert f"#{run.jobs.get().job.pk}" in client.get(address).content.decode()


@pytest.mark.django_db
def test_the_overview_asks_as_often_for_three_models_as_for_one(client, people, model, node):
    client.force_login(people["consultant"])
    Job.objects.create(kind="inf.mslite", engagement=model.engagement, model=model,
                       state=JobState.SUCCEEDED, finished_at=timezone.now(),
                       parameters={"model_file": "~/earlier.onnx"})
    address = f"/engagements/{model.engagement.code}/chains/"

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            page = client.get(address).content.decode()
        assert page.count('value="~/earlier.onnx"') == 1
        return len(asked)

    few = [queries(), queries()][1]
    for code in ("B", "C"):
        add_model(actor=people["manager"], engagement=model.engagement, code=code, name="x")
    MigratedModel.objects.filter(engagement=model.engagement).update(
        framework=model.framework, inference_route=model.inference_route)
    assert queries() == few


@pytest.mark.django_db
def test_the_node_of_the_last_run_is_chosen_again(client, people, model, node):
    client.force_login(people["consultant"])
    Node.objects.create(name="another", host="127.0.0.1", username="x", state="ready",
                        cards_total=8)
    chains.start_shipped(actor=people["consultant"], code="mindspore_lite", models=[model],
                         node=node, given=GIVEN)
    page = client.get(f"/engagements/{model.engagement.code}/chains/").content.decode()
    assert page.count(f'<option value="{node.pk}" selected>{node.name}</option>') == 1
    assert page.count(">another</option>") == page.count(f">{node.name}</option>") > 1


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["~/{modell}", "{steps.convert.file.x}", "{steps.convert}",
                                  "{given}", "{GIVEN.source}", "{ model }"])
def test_what_is_no_place_is_refused_when_it_is_stored(people, text):
    with pytest.raises(InvalidInput, match=r"Step 1: .* is no place\. Known are: {model}"):
        chains.save_chain(actor=people["consultant"], name="wrong", steps=[
            {"kind": "adapt.ckpt_check", "parameters": {"folder": text}}])


@pytest.mark.django_db
def test_braces_of_a_command_are_none(people):
    words = ["awk", "{ print $1 }", "${HOME}/x", '{"a": 1}', "{1..3}"]
    chain = chains.save_chain(actor=people["consultant"], name="command", steps=[
        {"kind": "adapt.smoke_train", "parameters": {"script": "x.py", "arguments": words}}])
    assert chain.steps[0]["parameters"]["arguments"] == words


@pytest.mark.django_db
def test_what_a_later_step_is_given_is_checked_before_the_first(people, model, node, left):
    from django.core.files.base import ContentFile

    from engagements.models import Engagement
    from workers.artifacts.artifact_store import store_file

    other = Engagement.objects.create(code="OTHER", customer=model.engagement.customer)
    foreign = store_file(stream=ContentFile(b"x"), name="log.txt", engagement=other).pk
    steps = [{"kind": "env.npu_info", "parameters": {}},
             {"kind": "perf.throughput", "parameters": {
                 "log": "{given.log}", "seq_length": 8}}]
    chain = chains.save_chain(actor=people["consultant"], name="late", steps=steps)
    job = left()
    log = job.artifacts.get(name="log.txt")
    for given, why in ((foreign, "does not belong to this engagement"), ("x", "a number is")):
        with pytest.raises(InvalidInput, match=f"Step 2: .*{why}"):
            chains.start_chain(actor=people["consultant"], chain=chain, models=[model], node=node,
                               given={"log": str(given)})
    assert not Job.objects.exclude(pk=job.pk).exists()
    chains.start_chain(actor=people["consultant"], chain=chain, models=[model], node=node,
                       given={"log": str(log.pk)})
    assert Job.objects.filter(kind="env.npu_info").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_run_is_cancelled_with_its_job_and_says_so(people, stranger, model, node, client):
    [run] = chains.start_shipped(actor=people["consultant"], code="mindspore_lite",
                                 models=[model], node=node, given=GIVEN)
    with pytest.raises(NotAllowed):
        chains.cancel_run(actor=people["reviewer"], run=run)
    client.force_login(people["consultant"])
    page = client.post(f"/jobs/chain-runs/{run.pk}/cancel/", follow=True).content.decode()
    assert ChainRun.objects.get().sentence in page
    job = runner.drive(run.jobs.get().job)
    run = ChainRun.objects.get()
    with override("en"):
        assert (job.state, run.state_text, run.sentence, run.jobs.count()) == (
            JobState.CANCELLED, "Cancelled",
            "It was cancelled at step 1 of 2; no further step is queued.", 1)
    with pytest.raises(WrongState):
        chains.cancel_run(actor=people["consultant"], run=run)
