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
    SENT_BACK = "sent_back", _("Sent back")
    SKIPPED = "skipped", _("Out of scope")


class StageMove(models.TextChoices):
    START = "start", _("Start")
    SUBMIT = "submit", _("Submit")
    PASS = "pass", _("Pass")
    SEND_BACK = "send_back", _("Send back")


TRANSITIONS: dict[tuple[str, str], str] = {
    (StageState.NOT_STARTED, StageMove.START): StageState.IN_PROGRESS,
    (StageState.SENT_BACK, StageMove.START): StageState.IN_PROGRESS,
    (StageState.IN_PROGRESS, StageMove.SUBMIT): StageState.SUBMITTED,
    (StageState.SUBMITTED, StageMove.PASS): StageState.PASSED,
    (StageState.SUBMITTED, StageMove.SEND_BACK): StageState.SENT_BACK,
    (StageState.PASSED, StageMove.SEND_BACK): StageState.SENT_BACK,
}

OUT_OF_SCOPE: dict[str, frozenset[str]] = {
    Scope.FULL: frozenset(),
    Scope.TRAINING: frozenset({Stage.INFER_MIGRATE, Stage.INFER_TUNE}),
    Scope.INFERENCE: frozenset({Stage.TRAIN_ADAPT, Stage.TRAIN_TUNE}),
}


def moves_from(state: str) -> list[str]:
    """The moves that the table allows from `state`."""
    return [move for (start, move) in TRANSITIONS if start == state]
