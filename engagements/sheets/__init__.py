"""Stage sheets as data: activities, inputs, outputs, exit, risks, tools, checklist (DOMAIN 2.2)."""

from engagements.sheets.base import Item, Line, Sheet
from engagements.sheets.inference import ACCEPT, INFER_MIGRATE, INFER_TUNE
from engagements.sheets.preparation import DESIGN, ENV, SURVEY
from engagements.sheets.training import TRAIN_ADAPT, TRAIN_TUNE
from engagements.stages import Stage

SHEETS: dict[str, Sheet] = {
    Stage.SURVEY: SURVEY, Stage.DESIGN: DESIGN, Stage.ENV: ENV, Stage.TRAIN_ADAPT: TRAIN_ADAPT,
    Stage.TRAIN_TUNE: TRAIN_TUNE, Stage.INFER_MIGRATE: INFER_MIGRATE,
    Stage.INFER_TUNE: INFER_TUNE, Stage.ACCEPT: ACCEPT,
}

__all__ = ["SHEETS", "Item", "Line", "Sheet"]
