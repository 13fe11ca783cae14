"""Jobs that must have succeeded before a stage may pass, by the model's route (DOMAIN 2.2)."""

from dataclasses import dataclass

from engagements.migration_routes import Framework, InferenceRoute, TrainingRoute, framework_of
from engagements.models import MigratedModel, StageRecord
from engagements.stages import TRAINING_STAGES, Stage


@dataclass(frozen=True)
class RequiredJob:
    """One of `kinds` must have succeeded in the stage; with no kinds any job of the model.

    Args:
        framework, training, inference: the only value of the model's route for which it holds;
            None holds for all.
    """

    stage: str
    kinds: tuple[str, ...]
    framework: str | None = None
    training: str | None = None
    inference: str | None = None

    def holds_for(self, model: MigratedModel) -> bool:
        """Whether the model's recorded route asks for it."""
        own = (framework_of(model.framework), model.training_route, model.inference_route)
        return all(asked in (None, value) for asked, value in zip(
            (self.framework, self.training, self.inference), own, strict=True))

    @property
    def is_of_route(self) -> bool:
        return bool(self.framework or self.training or self.inference)


_F, _T, _I = Framework, TrainingRoute, InferenceRoute
REQUIRED_JOBS = (
    RequiredJob(Stage.SURVEY, ("survey.pt_analyse",), framework=_F.PYTORCH),
    RequiredJob(Stage.SURVEY, ("survey.tf_scan",), framework=_F.TENSORFLOW),
    RequiredJob(Stage.ENV, ("env.npu_info",)),
    RequiredJob(Stage.ENV, ("env.host_probe",)),
    RequiredJob(Stage.ENV, ("env.torch_check",), framework=_F.PYTORCH),
    RequiredJob(Stage.ENV, ("env.tf_check",), framework=_F.TENSORFLOW),
    RequiredJob(Stage.ENV, ("env.ms_check",), framework=_F.MINDSPORE),
    RequiredJob(Stage.TRAIN_ADAPT, ("adapt.auto_patch_check",), training=_T.AUTOMATIC),
    RequiredJob(Stage.TRAIN_ADAPT, ("adapt.gpu2npu",), framework=_F.PYTORCH, training=_T.TOOL),
    RequiredJob(Stage.TRAIN_ADAPT, ("survey.tf_scan",), framework=_F.TENSORFLOW,
                training=_T.TOOL),
    RequiredJob(Stage.TRAIN_ADAPT, ("adapt.code_changes",), training=_T.MANUAL),
    RequiredJob(Stage.TRAIN_ADAPT, ("adapt.smoke_train", "adapt.megatron_train",
                                    "adapt.project_train")),
    RequiredJob(Stage.TRAIN_ADAPT, ("adapt.ckpt_check",)),
    RequiredJob(Stage.INFER_MIGRATE, ("inf.atc",), inference=_I.OFFLINE),
    RequiredJob(Stage.INFER_MIGRATE, ("inf.mindie_run", "inf.mindie_serve"), inference=_I.MINDIE),
    RequiredJob(Stage.INFER_MIGRATE, ("inf.mslite",), inference=_I.MINDSPORE_LITE),
    RequiredJob(Stage.INFER_MIGRATE, ("inf.vllm_serve",), inference=_I.VLLM_ASCEND),
    RequiredJob(Stage.INFER_MIGRATE, (), inference=_I.ONLINE),
    RequiredJob(Stage.INFER_TUNE, ("inf.om_bench",), inference=_I.OFFLINE),
    RequiredJob(Stage.INFER_TUNE, ("inf.mindie_bench",), inference=_I.MINDIE),
    RequiredJob(Stage.INFER_TUNE, ("inf.lite_bench",), inference=_I.MINDSPORE_LITE),
    RequiredJob(Stage.INFER_TUNE, ("inf.vllm_bench",), inference=_I.VLLM_ASCEND),
    RequiredJob(Stage.INFER_TUNE, (), inference=_I.ONLINE),
)


def required_jobs(record: StageRecord) -> list[RequiredJob]:
    """What the model's route asks for in this stage.

    Where the framework or route that decides is not recorded, one job of any of the routes is
    asked for, so that a stage never passes without one.
    """
    model, of_stage = record.model, [r for r in REQUIRED_JOBS if r.stage == record.stage]
    found = [required for required in of_stage if required.holds_for(model)]
    of_any_route = tuple(dict.fromkeys(
        kind for required in of_stage if required.is_of_route for kind in required.kinds))
    if of_any_route and _is_undecided(model, record.stage):
        found.append(RequiredJob(record.stage, of_any_route))
    return found


def _is_undecided(model: MigratedModel, stage: str) -> bool:
    if stage in (Stage.SURVEY, Stage.ENV):
        return framework_of(model.framework) is None
    return not route_of(model, stage)


def route_of(model: MigratedModel, stage: str) -> str:
    """The recorded route that decides on a training or inference stage; "" for none."""
    return model.training_route if stage in TRAINING_STAGES else model.inference_route
