"""Writes of surveys. Each function owns its transaction, lock and audit entry."""

from delivery.surveys.services.answers import (
    Change,
    Conflict,
    Saved,
    copy_answers,
    save_answers,
    value_at,
)
from delivery.surveys.services.comments import add_comment
from delivery.surveys.services.consequences import Overtaken, apply_consequences, decide
from delivery.surveys.services.moves import (
    confirm_survey,
    move_survey,
    reopen_survey,
    start_survey,
    submit_survey,
)
from delivery.surveys.services.permissions import may_fill, require_filling
from delivery.surveys.services.versions import move_to_version

__all__ = ["Change", "Conflict", "Overtaken", "Saved", "add_comment", "apply_consequences",
           "confirm_survey", "copy_answers", "decide", "may_fill", "move_survey", "move_to_version",
           "reopen_survey", "require_filling", "save_answers", "start_survey", "submit_survey",
           "value_at"]
