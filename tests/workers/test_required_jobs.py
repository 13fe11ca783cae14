"""Jobs that a stage asks for follow from the model's framework and routes."""

import pytest
from django.utils import timezone
from django.utils.translation import override

from engagements import services
from engagements.gate_checks import route_recorded
from engagements.migration_routes import framework_of
from engagements.models import Role
from workers import kinds
from workers.gate_checks import required_jobs_succeeded
from workers.models import Job, Node
from workers.required_jobs import REQUIRED_JOBS, required_jobs

TRAINED = {("adapt.smoke_train", "adapt.megatron_train", "adapt.project_train"),
           ("adapt.ckpt_check",)}


@pytest.fixture
def model(engagement, people):
    return services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="M1",
                              name="M1", framework="PyTorch 2.1.0")


def asked(model, stage: str, **facts) -> set[tuple[str, ...]]:
    for name, value in facts.items():
        setattr(model, name, value)
    model.save()
    return {required.kinds for required in required_jobs(model.stages.get(stage=stage))}


@pytest.mark.parametrize(("text", "framework"), [
    ("PyTorch 2.1.0 + MindSpeed", "pytorch"), ("TensorFlow 1.15", "tensorflow"),
    ("TF 2.6", "tensorflow"),
    ("MindSpore 2.3", "mindspore"), ("ONNX opset 13", "other"), (" ", None)])
def test_a_framework_is_known_by_its_name(text, framework):
    assert framework_of(text) == framework


def test_every_required_kind_exists_in_its_stage():
    for required in REQUIRED_JOBS:
        assert all(required.stage in kinds.get(code).stages for code in required.kinds)


@pytest.mark.parametrize(("stage", "facts", "expected"), [
    ("env", {"framework": "TensorFlow 1.15"},
     {("env.npu_info",), ("env.host_probe",), ("env.tf_check",)}),
    ("env", {"framework": "MindSpore"},
     {("env.npu_info",), ("env.host_probe",), ("env.ms_check",)}),
    ("survey", {"framework": "TensorFlow"}, {("survey.tf_scan",)}),
    ("survey", {"framework": ""}, {("survey.pt_analyse", "survey.tf_scan")}),
    ("train_adapt", {"training_route": "tool"}, {("adapt.gpu2npu",), *TRAINED}),
    ("train_adapt", {"training_route": "automatic"}, {("adapt.auto_patch_check",), *TRAINED}),
    ("train_adapt", {"training_route": "mindspeed"}, TRAINED),
    ("infer_migrate", {"inference_route": "mindie"}, {("inf.mindie_run", "inf.mindie_serve")}),
    ("infer_migrate", {"inference_route": "vllm_ascend"}, {("inf.vllm_serve",)}),
    ("infer_migrate", {"inference_route": "online"}, {()}),
    ("infer_migrate", {"inference_route": ""},
     {("inf.atc", "inf.mindie_run", "inf.mindie_serve", "inf.mslite", "inf.vllm_serve")}),
    ("infer_tune", {"inference_route": "vllm_ascend"}, {("inf.vllm_bench",)}),
    ("infer_tune", {"inference_route": "mindspore_lite"}, {("inf.lite_bench",)}),
    ("infer_tune", {"inference_route": "mindie"}, {("inf.mindie_bench",)}),
])
def test_what_a_stage_asks_for(model, stage, facts, expected):
    assert asked(model, stage, **facts) == expected


def test_one_success_of_several_kinds_is_enough(model):
    record = model.stages.get(stage="infer_migrate")
    asked(model, "infer_migrate", inference_route="mindie")
    assert [result.is_met for result in required_jobs_succeeded(record)] == [False]
    for kind, state in (("inf.mindie_run", "succeeded"), ("inf.mindie_serve", "failed")):
        Job.objects.create(kind=kind, engagement=model.engagement, model=model, state=state,
                           stage="infer_migrate", finished_at=timezone.now())
    assert [result.is_met for result in required_jobs_succeeded(record)] == [True]


def test_the_environment_is_checked_on_the_nodes_that_are_used(model):
    """Checks of several nodes add up to none; a success elsewhere hides no failure here."""
    record = model.stages.get(stage="env")
    used, other = (Node.objects.create(name=name, host=name, username="desk", cards_total=8)
                   for name in ("bms-1", "bms-2"))

    def run(kind, node, state="succeeded", **fields):
        Job.objects.create(**{"kind": kind, "engagement": model.engagement, "node": node,
                              "state": state, "stage": "env", "finished_at": timezone.now(),
                              **fields})

    def met() -> dict[str, bool]:
        return {result.code: result.is_met for result in required_jobs_succeeded(record)}

    run("env.npu_info", used)
    run("env.torch_check", used)
    run("env.host_probe", used, "failed")
    run("env.host_probe", other)
    assert met() == {"job:env.npu_info": True, "job:env.host_probe": False,
                     "job:env.torch_check": True}
    run("env.host_probe", used)
    assert set(met().values()) == {True}
    run("adapt.smoke_train", other, stage="train_adapt", model=model)
    assert met() == {"job:env.npu_info": False, "job:env.host_probe": True,
                     "job:env.torch_check": False}


def test_a_route_without_a_kind_needs_any_job_of_the_stage(model):
    record = model.stages.get(stage="infer_migrate")
    asked(model, "infer_migrate", inference_route="online")
    [result] = required_jobs_succeeded(record)
    assert not result.is_met
    Job.objects.create(kind="evi.bundle", engagement=model.engagement, model=model,
                       state="succeeded", stage="infer_migrate", finished_at=timezone.now())
    [result] = required_jobs_succeeded(record)
    assert result.is_met


def test_the_design_names_the_routes_in_scope(model):
    record = model.stages.get(stage="design")
    assert [r.is_met for r in route_recorded(record)] == [False, False]
    model.training_route, model.inference_route = "tool", "offline"
    model.save()
    assert [r.is_met for r in route_recorded(model.stages.get(stage="design"))] == [True, True]
    model.scope = "inference"
    model.save()
    assert [r.code for r in route_recorded(model.stages.get(stage="design"))] == [
        "inference_route"]
    assert list(route_recorded(model.stages.get(stage="env"))) == []


def test_one_mode_of_an_analysis_is_not_enough(model):
    record = model.stages.get(stage="survey")

    def run(mode, state="succeeded"):
        Job.objects.create(kind="survey.pt_analyse", engagement=model.engagement, model=model,
                           state=state, stage="survey", parameters={"mode": mode},
                           finished_at=timezone.now())
        with override("en"):
            [result] = required_jobs_succeeded(record)
        return result.is_met, result.sentence

    is_met, sentence = run("torch_apis")
    assert not is_met
    assert "succeeded: APIs of PyTorch (torch_apis); modes without a result: APIs of third" in (
        sentence)
    assert not run("third_party", "failed")[0]
    is_met, sentence = run("third_party")
    assert is_met
    assert "without a result: APIs with an affinity API (affinity_apis), Dynamic shapes" in sentence
