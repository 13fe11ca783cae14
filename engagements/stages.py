"""The seven stages and acceptance (DOMAIN 2.1), and the table of their transitions."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Stage(models.TextChoices):
    SURVEY = "survey", _("Survey")
    DESIGN = "design", _("Design")
    ENV = "env", _("Environment preparation")
    TRAIN_ADAPT = "train_adapt", _("Training adaptation")
    TRAIN_TUNE = "train_tune", _("Training tuning")
    INFER_MIGRATE = "infer_migrate", _("Inference migration")
    INFER_TUNE = "infer_tune", _("Inference tuning")
    ACCEPT = "accept", _("Acceptance")


class Scope(models.TextChoices):
    FULL = "full", _("Training and inference")
    TRAINING = "training", _("Training only")
    INFERENCE = "inference", _("Inference only")


class StageState(models.TextChoices):
    NOT_STARTED = "not_started", _("Not started")
    IN_PROGRESS = "in_progress", _("In progress")
    SUBMITTED = "submitted", _("Submitted")
    PASSED = "passed", _("Passed")
    WAIVED = "waived", _("Waived")
    SENT_BACK = "sent_back", _("Sent back")
    SKIPPED = "skipped", _("Out of scope")


class StageMove(models.TextChoices):
    START = "start", _("Start")
    SUBMIT = "submit", _("Submit")
    PASS = "pass", _("Pass")
    SEND_BACK = "send_back", _("Send back")
    WAIVE = "waive", _("Let through with the waiver")
    REOPEN = "reopen", _("Reopen")
    SKIP = "skip", _("Take out of scope")
    RESTORE = "restore", _("Back into scope")


TRANSITIONS: dict[tuple[str, str], str] = {
    (StageState.NOT_STARTED, StageMove.START): StageState.IN_PROGRESS,
    (StageState.SENT_BACK, StageMove.START): StageState.IN_PROGRESS,
    (StageState.IN_PROGRESS, StageMove.SUBMIT): StageState.SUBMITTED,
    (StageState.SUBMITTED, StageMove.PASS): StageState.PASSED,
    (StageState.SUBMITTED, StageMove.SEND_BACK): StageState.SENT_BACK,
    (StageState.PASSED, StageMove.SEND_BACK): StageState.SENT_BACK,
    (StageState.SUBMITTED, StageMove.WAIVE): StageState.WAIVED,
    (StageState.WAIVED, StageMove.SEND_BACK): StageState.SENT_BACK,
    (StageState.PASSED, StageMove.REOPEN): StageState.IN_PROGRESS,
    (StageState.WAIVED, StageMove.REOPEN): StageState.IN_PROGRESS,
    (StageState.NOT_STARTED, StageMove.SKIP): StageState.SKIPPED,
    (StageState.IN_PROGRESS, StageMove.SKIP): StageState.SKIPPED,
    (StageState.SENT_BACK, StageMove.SKIP): StageState.SKIPPED,
    (StageState.SKIPPED, StageMove.RESTORE): StageState.NOT_STARTED,
}

# A waived stage is not passed (rule 2), but the following ones may build on it.
LET_THROUGH = frozenset({StageState.PASSED, StageState.WAIVED})
DONE = LET_THROUGH | {StageState.SKIPPED}
WITH_REASON = frozenset({StageMove.SEND_BACK, StageMove.REOPEN, StageMove.SKIP,
                         StageMove.RESTORE})
# Every model is surveyed, and nobody but the customer decides on acceptance.
NEVER_SKIPPED = frozenset({Stage.SURVEY, Stage.ACCEPT})

OUT_OF_SCOPE: dict[str, frozenset[str]] = {
    Scope.FULL: frozenset(),
    Scope.TRAINING: frozenset({Stage.INFER_MIGRATE, Stage.INFER_TUNE}),
    Scope.INFERENCE: frozenset({Stage.TRAIN_ADAPT, Stage.TRAIN_TUNE}),
}


def moves_from(state: str) -> list[str]:
    """The moves that the table allows from `state`."""
    return [move for (start, move) in TRANSITIONS if start == state]
