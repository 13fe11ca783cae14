"""Every kind of job that runs on a node, on the practice node, from the queue to its judgement."""

import contextlib
import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.urls import reverse

from engagements.errors import InvalidInput
from engagements.services import add_model
from practice_node.faults import set_faults
from practice_node.home import SYSTEM_PATH, TOOLBOX
from tests.ports import free_port
from workers import kinds, services
from workers.dispatch import runner
from workers.gangs.launchers import LAUNCHERS
from workers.kinds.example_runs import FREE_PORT, SERVED
from workers.kinds.example_runs import PROJECT_SCRIPT as RUN
from workers.models import Job, JobState
from workers.runtimes import software

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
FOLDER = "~/data/packages"
PACKAGES = {"checksums": f"{FOLDER}/SHA256SUMS", "confirmed": True}
kinds.load_all()
ON_NODES = [kind for kind in kinds.all_kinds()
            if kind.runs_on_node and not kind.code.startswith("test.")]


@pytest.fixture
def serving(practice):
    """Starts the stand-in of `vllm serve` and gives its address."""
    with contextlib.ExitStack() as started:
        def go() -> str:
            port = free_port()
            child = subprocess.Popen(
                [sys.executable, TOOLBOX / "vllm_cli.py", "serve",
                 practice.root / "home/data/weights", "--port", str(port)],
                stdout=subprocess.PIPE, text=True,
                env={"HOME": str(practice.root / "home"), "PATH": SYSTEM_PATH})
            started.callback(child.wait)
            started.callback(child.kill)
            assert any("startup complete" in line for line in child.stdout)
            return f"http://127.0.0.1:{port}"

        yield go


@pytest.fixture
def drive(people, engagement, node, in_runtime, serving):
    model = add_model(actor=people["manager"], engagement=engagement, code="LLM", name="巡检报告")

    def go(kind, parameters):
        parameters = {name: free_port() if value == FREE_PORT
                      else serving() if value == SERVED else value
                      for name, value in parameters.items()}
        return runner.drive(services.queue_job(
            actor=people["consultant"], kind=kind, node=node, model=model, parameters=parameters,
            runtime=in_runtime))

    return go


def test_every_kind_that_runs_on_a_node_is_tried_here():
    """Where another kind judges, it is tried with that kind."""
    assert [kind.code for kind in ON_NODES if kind.good_run and not kind.practice_runs] == []


@pytest.mark.parametrize(("kind", "parameters", "results"), [
    pytest.param(kind.code, run.parameters, run.results, id=kind.code)
    for kind in ON_NODES for run in kind.practice_runs])
def test_job_succeeds_on_the_practice_node(client, people, drive, kind, parameters, results):
    job = drive(kind, parameters)
    assert (job.state, job.is_practice) == (JobState.SUCCEEDED, True), job.sentence
    assert job.artifacts.filter(name="log.txt").exists()
    assert {name: job.results[name] for name in results} == results
    assert len(job.results["cards"]) == job.cards_wanted
    assert {"checked", "hits"} <= set(job.results["rule_outcome"])
    client.force_login(people["consultant"])
    assert client.get(reverse("workers:job", args=[job.pk])).status_code == 200


def test_checks_of_frameworks_tell_the_versions_of_the_node(drive, node, in_runtime):
    for kind in ("env.torch_check", "env.tf_check", "env.ms_check"):
        job = drive(kind, {})
    found = software.of_job(job)
    assert found["torch"]
    assert (found["tensorflow"], found["mindspore"]) == ("2.6.5", "2.3.0")
    type(node).objects.filter(pk=node.pk).update(software={"torch": "9.9"})
    job = type(job).objects.get(pk=job.pk)
    assert software.of_job(job) == found  # what the node holds later is not what the run had


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_every_launcher_starts_a_project_on_two_cards(practice, drive, launcher):
    script = practice.root / "home/projects/inspection/train.sh"
    script.write_text(f"python3 {practice.root}/home/projects/inspection/run.py \"$@\"\n")
    job = drive("adapt.smoke_train", {
        "script": str(script) if launcher == "bash" else RUN, "arguments": "smoke 12",
        "launcher": launcher, "cards": 2})
    assert (job.state, job.results.get("points")) == (JobState.SUCCEEDED, 12), (
        job.sentence, job.technical_cause)


FAILING = [
    ("env.npu_info", {}, {"card_alarm": 2}), ("env.npu_info", {}, {"missing_dcmi": True}),
    ("adapt.megatron_train", {"train_iters": 20}, {"nan_loss": 7}),
    ("adapt.megatron_train", {"train_iters": 20}, {"killed": 7}),
    ("adapt.megatron_train", {"train_iters": 20}, {"full_disk": 7}),
    ("adapt.gpu2npu", {"source": "~/data/inspect_net"}, {"analysis_error": True}),
    ("inf.atc", {"model_file": "~/data/model.onnx"}, {"conversion_error": True}),
    ("env.network_check", {}, {"link_down": 3}),
    ("env.hccl_test", {"cards": 2}, {"wrong_result": 1}),
    ("env.mindspore_install", {"wheelhouse": "~/nowhere", "confirmed": True}, {}),
    ("env.cann_install", {**PACKAGES, "toolkit": f"{FOLDER}/Ascend-cann-toolkit.run"},
     {"install_error": True}),
    ("env.cann_install", {**PACKAGES, "toolkit": "~/data/model.onnx"}, {}),
    ("perf.advisor", {"profile": "~/data/profile_npu"}, {"analysis_error": True}),
    ("perf.aoe", {"model_file": "~/data/model.onnx"}, {"conversion_error": True}),
    ("inf.quant", {"weights": "~/data/weights", "scheme": "w4a8"}, {"other_scheme": True}),
    ("inf.mindie_bench", {"dataset": "~/data/corpus.jsonl", "model_name": "Qwen",
                          "weights": "~/data/weights"}, {"failed_requests": 3}),
    ("adapt.corpus_convert", {"source": "~/data/corpus.jsonl", "column": "body"}, {}),
    ("adapt.ckpt_check", {"folder": "~/data/om_npu"}, {}),
    ("adapt.smoke_train", {"script": RUN, "arguments": "smoke 5"}, {}),
    ("adapt.auto_patch_check", {"source": "~/data/inspect_net",
                                "entry": "~/data/inspect_net/train.py"}, {}),
    ("inf.mslite", {"model_file": "~/data/model.onnx"}, {"conversion_error": True}),
    ("perf.msprof", {"script": RUN, "arguments": "smoke 2"}, {"analysis_error": True}),
    ("inf.mindie_serve", {"folder": "~/projects/mindie-service", "weights": "~/data/nothing",
                          "model_name": "Qwen2.5", "cards": 1, "port": FREE_PORT, "hold": 0},
     {}),
    ("perf.mem_peak", {"script": RUN, "arguments": "burn 0"}, {}),
]


@pytest.mark.parametrize(("kind", "parameters", "faults"), FAILING)
def test_asked_for_failure_is_found(drive, practice, kind, parameters, faults):
    set_faults(practice.root / "home", **faults)
    assert drive(kind, parameters).state == JobState.FAILED


def test_throughput_and_scaling_of_stored_logs(drive, people):
    train = {"train_iters": 20, "save": "~/checkpoints"}
    one = drive("adapt.megatron_train", {**train, "extra": "--practice-delay 0.04"})
    many = drive("adapt.megatron_train", {**train, "extra": "--practice-delay 0.02"})
    logs = [job.artifacts.get(name="log.txt").pk for job in (one, many)]
    rate = drive("perf.throughput", {"log": logs[0], "seq_length": 1024})
    assert rate.state == JobState.SUCCEEDED, rate.sentence
    assert rate.results["tokens_per_second"] == pytest.approx(
        16 * 1024 / rate.results["step_seconds"])
    scaling = drive("perf.scaling", {"one": logs[0], "many": logs[1], "nodes": 4})
    assert 0 < scaling.results["efficiency"] < 1
    with pytest.raises(InvalidInput):
        drive("perf.throughput", {"log": logs[0] + 1000, "seq_length": 1024})


SMOKE = {"script": RUN, "arguments": "smoke 12"}


def test_a_job_is_repeated_and_compared(client, drive, people, engagement, node):
    first = drive("adapt.smoke_train", SMOKE)
    again = drive("evi.rerun", {"job": first.pk, "tolerance": 0})
    assert again.state == JobState.SUCCEEDED, again.sentence
    assert (again.command, again.cards_wanted) == (first.command, first.cards_wanted)
    assert (again.results["n"], again.results["difference"]) == (5, 0)
    client.force_login(people["consultant"])
    page = client.get(reverse("workers:job", args=[first.pk])).content.decode()
    link = re.search(r'href="([^"]*kind=evi.rerun[^"]*)"', page)[1].replace("&amp;", "&")
    assert client.get(link).context["form"]["job"].value() == str(first.pk)
    trained = drive("adapt.megatron_train", {"train_iters": 20})
    other = drive("evi.rerun", {"job": trained.pk})
    assert other.results["n"] > 5


@pytest.mark.parametrize("why", ["of another engagement", "that failed"])
def test_only_own_succeeded_jobs_are_repeated(why, drive, people, engagement, node):
    first = drive("adapt.smoke_train", {**SMOKE, "steps": 12 if why.startswith("of") else 99})
    if why.startswith("of"):
        Job.objects.filter(pk=first.pk).update(engagement=None)
    with pytest.raises(InvalidInput):
        drive("evi.rerun", {"job": first.pk})


def test_bundle_verifies_every_file(drive):
    drive("adapt.smoke_train", SMOKE)
    bundle = drive("evi.bundle", {})
    assert bundle.state == JobState.SUCCEEDED, bundle.sentence
    found = {artifact.name: artifact for artifact in bundle.artifacts.all()}
    assert set(found) == {"manifest.txt", "jobs.json", "bundle.zip"}
    with zipfile.ZipFile(found["bundle.zip"].file.path) as archive:
        for line in archive.read("manifest.txt").decode().splitlines():
            digest, name = line.split("  ", 1)
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest
    log = bundle.model.artifacts.exclude(job=bundle).get(name="log.txt")
    Path(log.file.path).write_bytes(b"changed")
    damaged = drive("evi.bundle", {})
    assert (damaged.state, damaged.results["damaged"]) == (JobState.FAILED, 1)
