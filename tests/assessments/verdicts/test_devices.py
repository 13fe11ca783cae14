"""A run that used no NPU, by its own log or the desk's watch, gives no verdict on the NPU."""

import numpy as np
import pytest
from django.utils.translation import override

from assessments import services
from assessments.verdicts import computation
from tests.assessments.conftest import megatron_log
from toolreaders.verdicts.devices import NoNpu, no_npu_in
from toolreaders.verdicts.sentences import reason_message
from workers.models import Job

GPU = np.linspace(4, 2, 200)
WATCH = b"desk: no device: none was held open or listed by npu-smi in 12 looks\n"


@pytest.mark.parametrize("line", [
    "desk: no device: none was held open or listed by npu-smi in 12 looks",
    "desk: device gpu 1: process 7 holds it open",
    "device cpu", "Using device: cpu", "  device=cpu", "torch device is 'cpu'",
    "[INFO|2026-11-21] parser:523 >> Process rank: 0, world size: 1, device: cpu, distributed: x",
    "[real_accelerator.py:158:get_accelerator] Setting ds_accelerator to cpu (auto detect)",
    "context: device_target: CPU", "Device set to use cpu", "Using cpu device", "使用设备：cpu",
])
def test_lines_that_name_another_device(tmp_path, line):
    path = tmp_path / "a.log"
    path.write_text(f"begin\n{line}\nstep 1 loss 2.0\n")
    assert no_npu_in(path) == NoNpu(2, line.strip())
    path.write_text(f"begin\n{line}\ndevice: npu:0\n")  # a part of it stayed on the CPU
    assert no_npu_in(path) is None


@pytest.mark.parametrize("line", [
    "desk: device npu 3: process 7 holds it open", "python train.py --device cpu",
    '            "device": "cpu", ', "offload_optimizer=Offload(device='cpu', nvme_path=None)",
    "offload optimizer device: cpu", "loading the checkpoint on device cpu", "device: cpu_adam",
    "cpu: 192 cores", "device memory 64 GB, cpu 4%", "device npu", "CPU device count: 8",
    "# device = 'cpu'  # run on cpu only",
])
def test_lines_that_say_nothing_of_the_run(tmp_path, line):
    path = tmp_path / "a.log"
    path.write_text(f"begin\n{line}\nstep 1 loss 2.0\n")
    assert no_npu_in(path) is None


@pytest.mark.parametrize(("head", "tail", "line"), [
    (b"device cpu\n", b"", 1), (b"", WATCH, 201)])
@pytest.mark.parametrize("factor", [1.001, 1.5, np.nan])
def test_a_run_without_an_npu_proves_nothing(criterion, store, model, head, tail, line, factor):
    artifact = store("npu.log", head + megatron_log(GPU * factor) + tail, model)
    measured = next(m for m in services.measure_artifact(artifact) if m.quantity == "loss_curve")
    found = computation.compute(criterion, measured)
    assert (found.outcome, found.reason) == ("not_provable", "no_npu_used")
    with override("en"):
        message, values = reason_message(found.reason, found.facts)
        assert f"used no NPU (line {line}: “" in message % values
    assert computation.judge_one(criterion, measured).reason == "no_npu_used"


def test_what_the_desk_recorded_of_the_job_counts_too(criterion, store, model, node, people,
                                                      engagement):
    artifact = store("npu.log", megatron_log(GPU * 1.001), model)
    measured = next(m for m in services.measure_artifact(artifact) if m.quantity == "loss_curve")
    assert computation.compute(criterion, measured).outcome == "passed"
    artifact.job = Job.objects.create(kind="train.megatron", engagement=engagement, node=node,
                                      results={"not_provable": "device"})
    artifact.save()
    measured.refresh_from_db()
    found = computation.compute(criterion, measured)
    assert (found.outcome, found.reason, found.facts["no_npu_line"]) == (
        "not_provable", "no_npu_used", None)


def test_a_device_that_the_desk_has_proven_stays_proven(criterion, store, model, node, people,
                                                        engagement):
    """The client of a service holds no card itself; the job's kind has other proof."""
    artifact = store("npu.log", megatron_log(GPU * 1.001) + WATCH, model)
    artifact.job = Job.objects.create(kind="train.megatron", engagement=engagement, node=node,
                                      results={"device": "npu 0"})
    artifact.save()
    measured = next(m for m in services.measure_artifact(artifact) if m.quantity == "loss_curve")
    found = computation.compute(criterion, measured)
    assert (found.outcome, found.facts["device"]) == ("passed", "npu 0")
