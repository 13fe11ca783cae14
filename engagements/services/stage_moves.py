"""Moves of a model's stage, guarded by the table of transitions, the gate, the order of stages and
the rule that nobody decides on his own work."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.agreed_scope import require_open_scope
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import GateNotMet, NotAllowed, WrongState
from engagements.gates import CheckResult, evaluate
from engagements.involvement import involvement_in
from engagements.models import StageRecord, StageTransition, User
from engagements.moves import require_move
from engagements.stages import (
    BEGUN,
    DONE,
    LET_THROUGH,
    TRANSITIONS,
    StageMove,
    StageState,
)
from engagements.text.text_joining import following, labelled


@retried
@transaction.atomic
def move_stage(*, actor: User, record: StageRecord, move: str, comment: str = "",
               is_approved: bool = False) -> StageTransition:
    """Make one move of the table with a model's stage.

    Logs the transition with what the gate said and writes an audit entry. Leaving the passed or
    waived state revokes an open waiver.

    Raises:
        NotAllowed: the role may not, or the actor worked on the stage that is to be let through.
        WrongState: the table has no such move, the other stages do not allow it, or the scope is
            agreed and no change request `is_approved` that changes it.
        GateNotMet: passing with a failed check, or waiving one that the waiver does not name;
            `details["checks"]` lists all checks.
        InvalidInput: a move that needs a reason, without one.
    """
    record = StageRecord.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement").get(pk=record.pk)
    require_move(actor, TRANSITIONS, record, move, comment)
    if move in (StageMove.SKIP, StageMove.RESTORE):
        require_open_scope(record.engagement, is_approved=is_approved)
    checks = _checks(actor, record, move)
    return _apply(actor, record, move, comment, checks)


@transaction.atomic
def follow_decision(*, actor: User, record: StageRecord, move: str, reason: str
                    ) -> StageTransition | None:
    """Make the move that follows from a decision taken elsewhere (the table's automatic rows),
    logged with its reason.

    A stage whose gate is open, or that comes before its turn, is submitted instead of passed.
    Nothing moves, and None is returned, where the stage stands there already, or its model was
    dropped. Call it inside the transaction of the decision, before its audit entry.
    """
    record = StageRecord.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement").get(pk=record.pk)
    checks = [result.as_dict() for result in evaluate(record)] if move == StageMove.PASS else []
    if move == StageMove.PASS and (not all(check["is_met"] for check in checks)
                                   or first_open_before(record)):
        move = StageMove.SUBMIT
    if record.model.dropped_at or record.state not in TRANSITIONS.automatic[move].sources:
        return None
    return _apply(actor, record, move, reason, checks)


def _checks(actor: User, record: StageRecord, move: str) -> list[dict]:
    """The checks of a decision, none for other moves; raises where stages or gate refuse."""
    row = TRANSITIONS[move]
    if row.needs_earlier:
        _require_earlier_done(record)
    if row.needs_later_untouched:
        _require_later_untouched(record)
    if not row.is_decision:
        return []
    require_other_hands(actor, record)
    results = evaluate(record)
    _require_gate(results, record, waived=_waived_codes(record) if move == StageMove.WAIVE
                  else None)
    return [result.as_dict() for result in results]


def take_out(actor: User, record: StageRecord, reason: str) -> StageTransition:
    """Skip a stage because its whole model is dropped, survey and acceptance included.

    Call it inside the transaction of the write. Raises WrongState for a stage that is submitted.
    """
    if record.state == StageState.SUBMITTED:
        raise WrongState(_("%(stage)s is submitted: pass it or send it back first.")
                         % {"stage": record})
    return _apply(actor, record, StageMove.SKIP, reason, [])


def require_other_hands(actor: User, record: StageRecord) -> None:
    """Raise NotAllowed for whoever worked on the stage."""
    if found := involvement_in(record, actor):
        raise NotAllowed(_("People who worked on a stage cannot let it "
                           "through. %(involvement)s Ask another manager.")
                         % {"involvement": following(*found)})


def _waived_codes(record: StageRecord) -> frozenset[str]:
    """Codes of the checks that the signed waiver of the stage names."""
    return record.waivers.open().exclude(signed_at=None).first().codes


def _require_gate(results: list[CheckResult], record: StageRecord,
                  waived: frozenset[str] | None) -> None:
    missing = [result for result in results if not result.is_met]
    if waived is not None and not missing:
        raise WrongState(_("The gate is met: pass the stage, no waiver is needed."))
    open_ones = [result for result in missing if result.code not in (waived or ())]
    if open_ones:
        sentences = (labelled(result.label, result.sentence) for result in open_ones)
        raise GateNotMet(following(_("The gate is not met."), *sentences),
                         checks=[result.as_dict() for result in results])


def _require_earlier_done(record: StageRecord) -> None:
    if open_before := first_open_before(record):
        raise WrongState(_("%(stage)s has not passed yet.")
                         % {"stage": open_before.get_stage_display()})


def first_open_before(record: StageRecord) -> StageRecord | None:
    """The earliest stage of the model that has to pass before this one; None where all have."""
    return record.model.stages.filter(position__lt=record.position).exclude(
        state__in=DONE).first()


def _require_later_untouched(record: StageRecord) -> None:
    busy = record.model.stages.filter(
        position__gt=record.position,
        state__in=[StageState.IN_PROGRESS, StageState.SUBMITTED, *LET_THROUGH],
    ).last()
    if busy:
        raise WrongState(_("Send back %(stage)s first: it builds on this stage.")
                         % {"stage": busy.get_stage_display()})


def _apply(actor: User, record: StageRecord, move: str, comment: str, checks: list[dict]
           ) -> StageTransition:
    now = timezone.now()
    row = TRANSITIONS[move]
    before, record.state = record.state, row.target
    if before in LET_THROUGH:
        record.passed_at = None
        record.waivers.open().update(revoked_at=now, revoked_by=actor)
    if row.stamp:
        setattr(record, row.stamp, now)
    if row.takes_back:
        setattr(record, TRANSITIONS[row.takes_back].stamp, None)
    if record.state in BEGUN:
        record.started_at = record.started_at or now
    transition = StageTransition.objects.create(
        record=record, move=move, from_state=before, to_state=record.state, actor=actor,
        agent=actor.agent, at=now, comment=comment.strip(), checks=checks,
    )
    record.save()
    audit_log.record(actor=actor, action=row.audit.code, target=record,
                     engagement=record.engagement,
                     data={"from": before, "to": record.state, "comment": comment.strip()})
    return transition
