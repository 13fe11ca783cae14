"""Every kind of job that runs on a node, on the practice node, from the queue to its judgement."""

import pytest

from engagements.services import add_model
from workers import kinds, runner, services
from workers.models import JobState
from workers.practice_node.faults import set_faults

pytestmark = pytest.mark.django_db(transaction=True)
JOBS = [
    ("env.npu_info", {}), ("env.host_probe", {}), ("env.torch_check", {}),
    ("survey.pt_analyse", {"source": "~/data/inspect_net"}),
    ("adapt.gpu2npu", {"source": "~/data/inspect_net"}),
    ("adapt.megatron_train", {"train_iters": 20}),
    ("acc.config_check", {"bench": "~/data/config_gpu.zip", "candidate": "~/data/config_npu.zip"}),
    ("acc.compare", {"target": "~/data/dump_npu/step0", "golden": "~/data/dump_gpu/step0"}),
    ("inf.atc", {"model_file": "~/data/model.onnx"}),
    ("inf.om_bench", {"model_file": "~/data/model.onnx", "loop": 10}),
]


@pytest.fixture
def drive(people, engagement, node):
    model = add_model(actor=people["manager"], engagement=engagement, code="LLM", name="巡检报告")

    def go(kind, parameters):
        return runner.drive(services.queue_job(
            actor=people["consultant"], kind=kind, node=node, model=model, parameters=parameters))

    return go


def test_every_kind_that_runs_on_a_node_is_tried_here():
    kinds.load_all()
    assert {kind for kind, _parameters in JOBS} == {
        kind.code for kind in kinds.all_kinds()
        if kind.runs_on_node and not kind.code.startswith("test.")}


@pytest.mark.parametrize(("kind", "parameters"), JOBS, ids=[kind for kind, _p in JOBS])
def test_job_succeeds_on_the_practice_node(drive, kind, parameters):
    job = drive(kind, parameters)
    assert (job.state, job.is_practice) == (JobState.SUCCEEDED, True), job.sentence
    assert job.artifacts.filter(name="log.txt").exists()


FAILING = [
    ("env.npu_info", {}, {"card_alarm": 2}), ("env.npu_info", {}, {"missing_dcmi": True}),
    ("adapt.megatron_train", {"train_iters": 20}, {"nan_loss": 7}),
    ("adapt.megatron_train", {"train_iters": 20}, {"killed": 7}),
    ("adapt.megatron_train", {"train_iters": 20}, {"full_disk": 7}),
    ("adapt.gpu2npu", {"source": "~/data/inspect_net"}, {"analysis_error": True}),
    ("inf.atc", {"model_file": "~/data/model.onnx"}, {"conversion_error": True}),
]


@pytest.mark.parametrize(("kind", "parameters", "faults"), FAILING)
def test_asked_for_failure_is_found(drive, practice, kind, parameters, faults):
    set_faults(practice.root / "home", **faults)
    assert drive(kind, parameters).state == JobState.FAILED
