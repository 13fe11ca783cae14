"""What the scenario's jobs are given on the practice node; which of them run follows from the
model's route (`workers.required_jobs`)."""

import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass

from django.core.files.base import ContentFile

from engagements.migration_routes import Framework, InferenceRoute, TrainingRoute, framework_of
from engagements.models import MigratedModel
from workers import kinds
from workers.required_jobs import REQUIRED_JOBS, required_jobs

PROJECT = "~/projects/inspection/run.py"
TRAINING = {"cards": 8, "train_iters": 400, "tensor_parallel": 2, "pipeline_parallel": 2}
SHORT_TRAINING = {**TRAINING, "train_iters": 40}
SERVED = {"weights": "~/data/weights"}
PARAMETERS: dict[str, dict] = {
    "survey.pt_analyse": {"source": "~/data/inspect_net"},
    "survey.tf_scan": {"tool": "~/projects/convert_tf2npu/main.py", "source": "~/data/tf_net",
                       "entry": "~/data/tf_net/train.py"},
    "adapt.gpu2npu": {"source": "~/data/inspect_net"},
    "adapt.code_changes": {"source": "~/data/inspect_net", "migrated": "~/projects/patched"},
    "adapt.megatron_train": SHORT_TRAINING,
    "adapt.ckpt_check": {"folder": "~/data/ckpt"},
    "inf.mindie_run": {**SERVED, "atb_speed": "~/projects/atb-models"},
    "inf.mindie_bench": {**SERVED, "dataset": "~/data/corpus.jsonl", "model_name": "Qwen"},
    "inf.om_bench": {"loop": 50},
}
BY_FRAMEWORK: dict[tuple[str, Framework], dict] = {
    ("adapt.smoke_train", Framework.PYTORCH): {"script": PROJECT, "arguments": "smoke 12"},
    ("adapt.smoke_train", Framework.TENSORFLOW): {"script": PROJECT, "arguments": "estimator 12"},
    ("adapt.smoke_train", Framework.MINDSPORE): {"script": PROJECT,
                                                 "arguments": "loss_monitor 12"},
    ("inf.atc", Framework.TENSORFLOW): {"model_file": "~/data/model.pb", "framework": "3"},
    ("inf.atc", Framework.MINDSPORE): {"model_file": "~/data/model.air", "framework": "1"},
    ("inf.atc", Framework.PYTORCH): {"model_file": "~/data/model.onnx"},
    ("inf.atc", Framework.OTHER): {"model_file": "~/data/model.onnx"},
}
# No tool of the vendor analyses MindSpore code: it is scanned here (`toolreaders.scan`).
SCANNED_SOURCE = '''"""Training of the oil leakage segmentation (GPU version)."""

import mindspore
from mindspore import nn, ops
from mindspore.communication import init

mindspore.set_context(mode=mindspore.GRAPH_MODE, device_target="GPU")
init("nccl")


class LeakageNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3)

    def construct(self, x):
        return ops.relu(self.stem(x))
'''
ORDER = [kind for required in REQUIRED_JOBS for kind in required.kinds]
# What an inference route is judged by: definition and threshold.
LATENCY = (("latency", "200"),)
INFERENCE_CRITERIA = {InferenceRoute.MINDIE: (("first_token_latency", "200"),
                                              ("answered_requests", "1"))}


@dataclass(frozen=True)
class PlannedJob:
    """One job of a model's stage, before it is queued."""

    kind: str
    parameters: dict
    model: MigratedModel


def planned_jobs(models: Iterable[MigratedModel], stage: str) -> list[PlannedJob]:
    """What the routes of the models ask for in the stage, in the order of the gate's table."""
    found = [PlannedJob(kind, parameters_of(kind, model) | mode, model)
             for model in models for kind in _kinds(model, stage) for mode in _modes(kind)]
    return sorted(found, key=lambda job: ORDER.index(job.kind))


def _kinds(model: MigratedModel, stage: str) -> list[str]:
    choices = [required.kinds for required in required_jobs(model.stages.get(stage=stage))]
    by_tool = model.training_route == TrainingRoute.MINDSPEED
    return ["adapt.megatron_train" if by_tool and "adapt.megatron_train" in codes else codes[0]
            for codes in choices if codes]


def _modes(kind: str) -> list[dict[str, str]]:
    return [{"mode": mode} for mode in kinds.get(kind).gate_modes] or [{}]


def parameters_of(kind: str, model: MigratedModel) -> dict:
    """What the practice node holds for this kind and framework."""
    return PARAMETERS.get(kind) or BY_FRAMEWORK.get((kind, framework_of(model.framework)), {})


def is_scanned(model: MigratedModel) -> bool:
    """Whether the model's source is scanned here, as no analysis tool reads its framework."""
    return framework_of(model.framework) == Framework.MINDSPORE


def source_archive(model: MigratedModel) -> ContentFile:
    """The model's source as the customer hands it over."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("train.py", SCANNED_SOURCE)
    return ContentFile(stream.getvalue(), f"{model.code.lower()}-source.zip")


def inference_criteria(model: MigratedModel) -> tuple[tuple[str, str], ...]:
    """(definition, threshold) of what the model's inference route is judged by."""
    return INFERENCE_CRITERIA.get(model.inference_route, LATENCY)
