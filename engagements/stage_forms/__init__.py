"""Stage forms as data: activities, inputs, outputs, exit, risks, tools, checklist (DOMAIN 2.2)."""

from engagements.stage_forms.base import Item, Line, StageForm
from engagements.stage_forms.inference import ACCEPT, INFER_MIGRATE, INFER_TUNE, OPERATION
from engagements.stage_forms.preparation import DESIGN, ENV, SURVEY
from engagements.stage_forms.training import TRAIN_ADAPT, TRAIN_TUNE
from engagements.stages import Stage

STAGE_FORMS: dict[str, StageForm] = {
    Stage.SURVEY: SURVEY, Stage.DESIGN: DESIGN, Stage.ENV: ENV, Stage.TRAIN_ADAPT: TRAIN_ADAPT,
    Stage.TRAIN_TUNE: TRAIN_TUNE, Stage.INFER_MIGRATE: INFER_MIGRATE,
    Stage.INFER_TUNE: INFER_TUNE, Stage.ACCEPT: ACCEPT,
    Stage.OPERATION: OPERATION,
}

__all__ = ["STAGE_FORMS", "Item", "Line", "StageForm"]
