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
from workers.models import Job, JobState
from workers.runtimes import software

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
FOLDER, RUN = "~/data/packages", "~/projects/inspection/run.py"
PACKAGES = {"checksums": f"{FOLDER}/SHA256SUMS", "confirmed": True}
SERVED = "http://127.0.0.1:1"  # replaced by the address of a service that is started for the job
SERVICE_PORT = 21025  # replaced by one that is free when the job is queued
MSACCUCMP = {"tool": "~/projects/msaccucmp.py"}
JOBS = [  # kind, parameters, and what its results hold
    ("env.npu_info", {}), ("env.host_probe", {}), ("env.torch_check", {}),
    ("survey.pt_analyse", {"source": "~/data/inspect_net"}),
    ("adapt.gpu2npu", {"source": "~/data/inspect_net"}),
    ("adapt.megatron_train", {"train_iters": 20}),
    ("acc.config_check", {"bench": "~/data/config_gpu.zip", "candidate": "~/data/config_npu.zip"}),
    ("acc.compare", {"target": "~/data/dump_npu/step0", "golden": "~/data/dump_gpu/step0"}),
    ("inf.atc", {"model_file": "~/data/model.onnx"}),
    ("inf.om_bench", {"model_file": "~/data/model.onnx", "loop": 10}),
    ("env.software", {"folders": "~/Ascend"}, {"torch_npu": "2.1.0.post8", "driver": "24.1.rc3"}),
    ("env.tf_check", {}, {"version": "2.6.5"}),
    ("env.ms_check", {}, {"version": "2.3.0", "platform": "Ascend"}),
    ("env.gpu_probe", {}, {"n": 2, "name": "NVIDIA A100-SXM4-80GB"}),
    ("env.hdk_install", {**PACKAGES, "driver": f"{FOLDER}/Ascend-hdk-910b-npu-driver.run",
                         "firmware": f"{FOLDER}/Ascend-hdk-910b-npu-firmware.run"}),
    ("env.cann_install", {**PACKAGES, "toolkit": f"{FOLDER}/Ascend-cann-toolkit.run",
                          "nnal": f"{FOLDER}/Ascend-cann-nnal.run", "install_path": "~/installed"},
     {"version": "8.5.0"}),
    ("env.mindspeed_install", {"folder": "work", "confirmed": True}),
    ("env.mindie_container", {"image": "mindie:2.0", "weights": "~/data/weights",
                              "confirmed": True}),
    ("env.pytorch_install", {"confirmed": True},
     {"torch": "2.1.0", "torch-npu": "2.1.0.post13", "numpy": "1.26.4"}),
    ("env.tensorflow_install", {"wheel": "~/wheels/tensorflow-2.6.5-cp39-cp39-linux_aarch64.whl",
                                "user": True, "confirmed": True}, {"tensorflow": "2.6.5"}),
    ("env.mindspore_install", {"wheelhouse": "~/data", "confirmed": True},
     {"mindspore": "2.3.1"}),
    ("env.tools_install", {"pytorch_analysis": True, "confirmed": True},
     {"mindstudio-probe": "1.0.0", "pandas": "1.2.4"}),
    ("env.tensorflow_build", {"source": "~/data/tensorflow-2.6.5", "confirmed": True,
                              "nsync": "~/data/nsync-1.22.0.tar.gz"}, {"functions": 4}),
    ("env.network_check", {"peer": "192.168.1.2"}, {"n": 8, "unanswered": ""}),
    ("env.hccl_test", {"cards": 2}, {"sizes": 14, "failed": 0}),
    ("survey.tf_scan", {"tool": "~/projects/convert_tf2npu/main.py", "source": "~/data/tf_net",
                        "entry": "~/data/tf_net/train.py"},
     {"total": 4, "changes": 2, "failed": 0}),
    ("adapt.corpus_convert", {"source": "~/data/corpus.jsonl"},
     {"rows_read": 200, "rows_written": 200, "empty_texts": 0}),
    ("adapt.preprocess", {"megatron": "~/projects/Megatron-LM", "source": "~/data/corpus.jsonl"},
     {"idx": 34 + 200 * 12 + 201 * 8}),
    ("adapt.ckpt_check", {"folder": "~/data/ckpt"},
     {"files": 2, "steps": 2, "tensors": 2, "changed": 1, "missing": 0}),
    ("adapt.auto_patch_check", {"source": "~/projects/patched",
                                "entry": "~/projects/patched/train.py"},
     {"blocking": 0, "warnings": 2}),
    ("adapt.onnx_export", {"script": RUN, "arguments": "export"}, {"first": "inspection.onnx"}),
    ("inf.mslite", {"model_file": "~/data/model.onnx"}),
    ("inf.lite_bench", {"model_file": "~/data/model.onnx", "loops": 10,
                        "package": "~/projects/mindspore-lite"}),
    ("adapt.code_changes", {"source": "~/data/inspect_net", "migrated": "~/projects/patched"},
     {"left": 0}),
    ("adapt.corpus_check", {"corpus": "~/data/corpus.jsonl"}, {"rows": 200, "leaked": 0}),
    ("perf.trace_folder", {"profile": "~/data/profile_npu"}, {"n": 2, "without": 0}),
    ("acc.tf_dump", {"script": RUN, "arguments": "tf_dump"}, {"n": 2}),
    ("perf.aoe_train", {"script": RUN, "arguments": "aoe_train", "mode": "2"}, {}),
    ("inf.atc_singleop", {"description": "~/data/add.json"}, {"n": 1}),
    ("inf.atc", {"model_file": "~/data/model.onnx", "aipp": "~/data/aipp.cfg",
                 "precision": "allow_mix_precision", "custom_operators": "~/opp"}),
    ("inf.vllm_serve", {"weights": "~/data/weights", "model_name": "Qwen", "port": SERVICE_PORT,
                        "hold": 1}, {"probes": 1, "answered": 1}),
    ("inf.vllm_bench", {"weights": "~/data/weights", "model_name": "Qwen", "http": SERVED,
                        "concurrencies": "1, 4", "lengths": "16/8, 32/8", "prompts": 4},
     {"n": 4, "failed": 0}),
    ("adapt.smoke_train", {"script": RUN, "arguments": "smoke 12"},
     {"points": 12, "nonfinite": 0}),
    ("acc.asd_run", {"script": RUN, "arguments": "smoke 12"}, {"points": 12}),
    ("acc.config_pack", {"script": RUN, "arguments": "pack"}, {"packages": 4}),
    ("acc.dump", {"script": RUN, "arguments": "dump", "config": "~/data/msprobe.json",
                  "ranks": 2}, {"dumps": 2}),
    ("acc.dump", {"script": RUN, "arguments": "dump", "level": "mix", "steps": "0, 2-3"},
     {"dumps": 3}),
    ("acc.api_check", {"dump": "~/data/dump_npu/step0/rank0/dump.json"}, {"apis": 6}),
    ("acc.overflow_check", {"dump": "~/data/dump_npu/step0"}, {"dumps": 1, "n": 0}),
    ("acc.graph", {"target": "~/data/dump_npu/step0", "golden": "~/data/dump_gpu/step0"},
     {"nodes": 6}),
    ("acc.eval", {"script": RUN, "arguments": "evaluate"}, {"task": "points"}),
    ("acc.overflow_parse", {**MSACCUCMP,
                            "dump": "~/data/Opdebug.Node_OpDebug.1.5.1732082705999000"},
     {"blocks": "AIC", "status": 16, "task": 65}),
    ("acc.dump_to_npy", {**MSACCUCMP, "dump": "~/data/om_npu", "as_text": True}, {"n": 3}),
    ("acc.om_compare", {**MSACCUCMP, "dump": "~/data/om_npu", "golden": "~/data/om_golden"},
     {"rows": 3}),
    ("perf.profile", {"script": RUN, "arguments": "profile"}, {"n": 1, "rows": 3}),
    ("perf.advisor", {"profile": "~/data/profile_npu"}, {"n": 1}),
    ("perf.compare", {"profile": "~/data/profile_npu", "base": "~/data/profile_gpu"},
     {"n": 1, "rows": 3, "worst": "Computing Time"}),
    ("perf.cluster", {"profile": "~/data/profile_npu"}, {"rows": 2}),
    ("perf.aoe", {"model_file": "~/data/model.onnx"}),
    ("inf.mindie_run", {"weights": "~/data/weights", "atb_speed": "~/projects/atb-models"},
     {"tokens": 20}),
    ("inf.mindie_bench", {"dataset": "~/data/corpus.jsonl", "model_name": "Qwen",
                          "weights": "~/data/weights"}, {"total": 200, "failed": 0}),
    ("inf.quant", {"weights": "~/data/weights"}, {"made": "W8A8", "n": 12}),
    ("perf.msprof", {"script": RUN, "arguments": "smoke 12"}, {"kernels": 12, "n": 1}),
    ("inf.online_run", {"script": RUN, "arguments": "infer"}, {"n": 2, "compared": 0}),
    ("inf.pyacl_profile", {"script": RUN, "arguments": "pyacl"}, {"kernels": 6}),
    ("perf.mem_peak", {"script": RUN, "arguments": "burn 2", "cards": 2, "interval": 0.1},
     {"cards_read": 2}),
    ("inf.overflow_dump", {"script": RUN, "arguments": "overflow"},
     {"n": 1, "which": "Gemm_7"}),
    ("evi.checksums", {"folder": "~/data/weights"}, {}),
    ("run.command", {"words": ["python3", "-m", "json.tool", "--help"], "pattern": "usage*json"},
     {"n": 0}),
    ("inf.mindie_serve", {"folder": "~/projects/mindie-service", "weights": "~/data/weights",
                          "model_name": "Qwen2.5", "cards": 1, "port": SERVICE_PORT, "hold": 1},
     {"probes": 1, "answered": 1}),
]


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
        if "port" in parameters:
            parameters = {**parameters, "port": free_port()}
        if parameters.get("http") == SERVED:
            parameters = {**parameters, "http": serving()}
        return runner.drive(services.queue_job(
            actor=people["consultant"], kind=kind, node=node, model=model, parameters=parameters,
            runtime=in_runtime))

    return go


def test_every_kind_that_runs_on_a_node_is_tried_here():
    kinds.load_all()
    assert {job[0] for job in JOBS} | {"evi.rerun"} == {
        kind.code for kind in kinds.all_kinds()
        if kind.runs_on_node and not kind.code.startswith("test.")}


@pytest.mark.parametrize(("kind", "parameters", "results"),
                         [(*job, {})[:3] for job in JOBS], ids=[job[0] for job in JOBS])
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
                          "model_name": "Qwen2.5", "cards": 1, "port": SERVICE_PORT, "hold": 0},
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
