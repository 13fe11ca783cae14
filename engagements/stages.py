"""The seven stages, acceptance and operation (DOMAIN 2.1), and the table of their transitions."""

from dataclasses import dataclass
from typing import Any

from django.db import models
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import WrongState
from engagements.permissions import Can
from engagements.stage_activity import has_activity
from engagements.transitions import AuditAction, Transition, TransitionTable, automatic


class Stage(models.TextChoices):
    SURVEY = "survey", _("Survey")
    DESIGN = "design", _("Design")
    ENV = "env", _("Environment preparation")
    TRAIN_ADAPT = "train_adapt", _("Training adaptation")
    TRAIN_TUNE = "train_tune", _("Training tuning")
    INFER_MIGRATE = "infer_migrate", _("Inference migration")
    INFER_TUNE = "infer_tune", _("Inference tuning")
    ACCEPT = "accept", _("Acceptance")
    OPERATION = "operation", _("Integration and operation")


# The item of the solution guide's six-step method (六步法) that a stage belongs to. Preparing the
# environment and acceptance are none of its items.
SIX_STEPS = {
    Stage.SURVEY: (1, _("Survey and planning")), Stage.DESIGN: (2, _("Design of the solution")),
    Stage.TRAIN_ADAPT: (3, _("Adaptation of the training")),
    Stage.TRAIN_TUNE: (4, _("Tuning of the model")),
    Stage.INFER_MIGRATE: (5, _("Deployment of the inference")),
    Stage.INFER_TUNE: (4, _("Tuning of the model")),
    Stage.OPERATION: (6, Stage.OPERATION.label),
}


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


# Reasons that are written by the desk, kept as message ids: each reads them in their language.
SURVEY_CONFIRMED = gettext_noop("The survey is confirmed.")
OWN_REASONS = {SURVEY_CONFIRMED}


class StageMove(models.TextChoices):
    START = "start", _("Start")
    SUBMIT = "submit", _("Submit")
    PASS = "pass", _("Pass")
    SEND_BACK = "send_back", _("Send back")
    WAIVE = "waive", _("Let through with the waiver")
    REOPEN = "reopen", _("Reopen")
    SKIP = "skip", _("Take out of scope")
    RESTORE = "restore", _("Back into scope")
    WITHDRAW = "withdraw", _("Withdraw submission")
    UNDO_START = "undo_start", _("Undo start")


@dataclass(frozen=True, kw_only=True)
class StageTransitionRule(Transition):
    """`is_decision`: the gate is evaluated, and nobody decides on his own work. `needs_earlier`:
    the stages before are done; `needs_later_untouched`: none after it is under way. `stamp`: the
    column of the stage record that gets the time of the move. `takes_back`: the move that is as if
    it had not been made; its stamp is emptied."""

    is_decision: bool = False
    needs_earlier: bool = False
    needs_later_untouched: bool = False
    stamp: str = ""
    takes_back: str = ""


# Every model is surveyed, and nobody but the customer decides on acceptance.
NEVER_SKIPPED = frozenset({Stage.SURVEY, Stage.ACCEPT})


def _not_dropped(_user, record) -> None:
    if record.model.dropped_at:
        raise WrongState(gettext("%(model)s was dropped from the project; its stages do not move.")
                         % {"model": record.model})


def _may_be_skipped(_user, record) -> None:
    if record.stage in NEVER_SKIPPED:
        raise WrongState(gettext("%(stage)s belongs to every model and is never out of scope.")
                         % {"stage": record.get_stage_display()})


def _has_signed_waiver(_user, record) -> None:
    if record.stage == Stage.ACCEPT:
        raise WrongState(gettext(
            "Acceptance is not waived: the customer may accept with conditions."))
    if not any(waiver.signed_at and not waiver.revoked_at for waiver in record.waivers.all()):
        raise WrongState(gettext("There is no signed waiver for this stage."))


def _nobody_decided(_user, record) -> None:
    if record.stage == Stage.ACCEPT:
        raise WrongState(gettext("The customer decides on acceptance: its submission is not "
                                 "withdrawn."))
    if any(waiver.signed_at and not waiver.revoked_at for waiver in record.waivers.all()):
        raise WrongState(gettext("A waiver for this stage is signed: its submission is no longer "
                                 "withdrawn, but it can be sent back."))


def _only_begun(_user, record) -> None:
    """Its last move is the start, and nothing was done in it since."""
    latest = max(record.transitions.all(), key=lambda move: (move.at, move.pk), default=None)
    is_start = latest is not None and (latest.move, latest.from_state) == (
        StageMove.START, StageState.NOT_STARTED)
    if not is_start or has_activity(record):
        raise WrongState(gettext("Work was done in %(stage)s: its start is no longer undone.")
                         % {"stage": record.get_stage_display()})


def _rule(*sources: str, to: str, audit: str, recorded: Any, by: Can = Can.MANAGE, guards=(),
          **more) -> StageTransitionRule:
    return StageTransitionRule(sources=frozenset(sources), target=to, permissions=(by,),
                               guards=(_not_dropped, *guards),
                               audit=AuditAction(audit, recorded), **more)


_S, _M = StageState, StageMove
TRANSITIONS = TransitionTable({
    _M.START: _rule(_S.NOT_STARTED, _S.SENT_BACK, to=_S.IN_PROGRESS, by=Can.WORK,
                    needs_earlier=True, stamp="started_at",
                    audit="stage.start", recorded=_("Stage started")),
    _M.SUBMIT: _rule(_S.IN_PROGRESS, to=_S.SUBMITTED, by=Can.WORK, stamp="submitted_at",
                     audit="stage.submit", recorded=_("Stage submitted")),
    _M.PASS: _rule(_S.SUBMITTED, to=_S.PASSED, is_decision=True, needs_earlier=True,
                   stamp="passed_at", audit="stage.pass", recorded=_("Stage passed")),
    _M.SEND_BACK: _rule(_S.SUBMITTED, _S.PASSED, _S.WAIVED, to=_S.SENT_BACK, needs_reason=True,
                        needs_later_untouched=True,
                        audit="stage.send_back", recorded=_("Stage sent back")),
    _M.WAIVE: _rule(_S.SUBMITTED, to=_S.WAIVED, is_decision=True, needs_earlier=True,
                    stamp="passed_at", guards=(_has_signed_waiver,),
                    audit="stage.waive", recorded=_("Stage let through with a waiver")),
    _M.REOPEN: _rule(_S.PASSED, _S.WAIVED, to=_S.IN_PROGRESS, needs_reason=True,
                     needs_later_untouched=True,
                     audit="stage.reopen", recorded=_("Stage reopened")),
    _M.SKIP: _rule(_S.NOT_STARTED, _S.IN_PROGRESS, _S.SENT_BACK, to=_S.SKIPPED,
                   needs_reason=True, guards=(_may_be_skipped,),
                   audit="stage.skip", recorded=_("Stage taken out of scope")),
    _M.RESTORE: _rule(_S.SKIPPED, to=_S.NOT_STARTED, needs_reason=True,
                      needs_later_untouched=True,
                      audit="stage.restore", recorded=_("Stage back in scope")),
    _M.WITHDRAW: _rule(_S.SUBMITTED, to=_S.IN_PROGRESS, by=Can.WORK, takes_back=_M.SUBMIT,
                       guards=(_nobody_decided,),
                       audit="stage.withdraw", recorded=_("Stage submission withdrawn")),
    _M.UNDO_START: _rule(_S.IN_PROGRESS, to=_S.NOT_STARTED, by=Can.WORK, takes_back=_M.START,
                         guards=(_only_begun,),
                         audit="stage.undo_start", recorded=_("Stage start undone")),
}, automatic={
    # What follows from a decision that was taken elsewhere: a confirmed survey, the customer's
    # signature.
    _M.START: automatic(_S.NOT_STARTED, _S.SENT_BACK, to=_S.IN_PROGRESS),
    _M.SUBMIT: automatic(_S.NOT_STARTED, _S.IN_PROGRESS, _S.SENT_BACK, _S.PASSED,
                         to=_S.SUBMITTED),
    _M.PASS: automatic(_S.NOT_STARTED, _S.IN_PROGRESS, _S.SENT_BACK, _S.SUBMITTED, to=_S.PASSED),
    _M.SEND_BACK: automatic(_S.NOT_STARTED, _S.IN_PROGRESS, _S.SUBMITTED, _S.PASSED,
                            to=_S.SENT_BACK),
})

TAKING_BACK = tuple(move for move, rule in TRANSITIONS.items() if rule.takes_back)

# What is offered for several models at once.
BULK_MOVES = (StageMove.START, StageMove.SUBMIT, StageMove.PASS, StageMove.SEND_BACK)

# A waived stage is not passed (rule 2), but the following ones may build on it.
LET_THROUGH = frozenset({StageState.PASSED, StageState.WAIVED})
DONE = LET_THROUGH | {StageState.SKIPPED}
BEGUN = frozenset(StageState) - {StageState.NOT_STARTED, StageState.SKIPPED}

TRAINING_STAGES = frozenset({Stage.TRAIN_ADAPT, Stage.TRAIN_TUNE})
INFERENCE_STAGES = frozenset({Stage.INFER_MIGRATE, Stage.INFER_TUNE})
# What no scope holds of itself: it comes in by a move of its own, with a reason and a price.
EXTRA = frozenset({Stage.OPERATION})
FROM_ACCEPTANCE = EXTRA | {Stage.ACCEPT}
OUT_OF_SCOPE: dict[str, frozenset[str]] = {
    Scope.FULL: EXTRA,
    Scope.TRAINING: INFERENCE_STAGES | EXTRA,
    Scope.INFERENCE: TRAINING_STAGES | EXTRA,
}
