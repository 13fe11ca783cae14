"""Writes of this app. Each function owns its transaction, lock and audit entry."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements import audit
from engagements.access import Can, require
from engagements.errors import GateNotMet, InvalidInput, WrongState
from engagements.gates import evaluate
from engagements.models import (
    ChecklistItem,
    Customer,
    Engagement,
    Membership,
    MigratedModel,
    Role,
    StageRecord,
    StageTransition,
    User,
)
from engagements.sheets import CHECKLISTS
from engagements.stages import OUT_OF_SCOPE, TRANSITIONS, Stage, StageMove, StageState


@transaction.atomic
def create_customer(*, actor: User, name: str, **fields) -> Customer:
    """A new customer. Writes an audit entry."""
    if not (set(PRICING_ROLES) & {actor.role}):
        require(actor, Can.MANAGE)
    customer = Customer.objects.create(name=name.strip(), **fields)
    audit.record(actor=actor, action="customer.create", target=customer)
    return customer


PRICING_ROLES = (Role.SALES,)


@transaction.atomic
def create_engagement(
    *, actor: User, code: str, name: str, customer: Customer, **fields
) -> Engagement:
    """A new engagement; its creator becomes a member. Writes an audit entry."""
    require(actor, Can.MANAGE)
    if Engagement.objects.filter(code=code).exists():
        raise InvalidInput(_("The project code %(code)s is taken.") % {"code": code})
    engagement = Engagement.objects.create(code=code, name=name, customer=customer, **fields)
    Membership.objects.create(engagement=engagement, user=actor, role=actor.role)
    audit.record(actor=actor, action="engagement.create", target=engagement,
                 engagement=engagement)
    return engagement


@transaction.atomic
def update_engagement(*, actor: User, engagement: Engagement, **fields) -> Engagement:
    """Change facts of an engagement; the audit entry holds what changed."""
    require(actor, Can.MANAGE, engagement)
    engagement = Engagement.objects.select_for_update(of=("self",)).get(pk=engagement.pk)
    changed = {k: [getattr(engagement, k), v] for k, v in fields.items()
               if getattr(engagement, k) != v}
    for key, (_before, after) in changed.items():
        setattr(engagement, key, after)
    engagement.save()
    audit.record(actor=actor, action="engagement.update", target=engagement,
                 engagement=engagement,
                 data={k: [str(a), str(b)] for k, (a, b) in changed.items()})
    return engagement


@transaction.atomic
def add_member(*, actor: User, engagement: Engagement, user: User, role: str = "") -> Membership:
    """Put a person on the team, or change what they are there."""
    require(actor, Can.MANAGE, engagement)
    role = role or user.role
    if user.is_reviewer != (role == Role.REVIEWER):
        raise InvalidInput(_("A customer reviewer can only be a reviewer, and nobody else can."))
    membership, _created = Membership.objects.update_or_create(
        engagement=engagement, user=user, defaults={"role": role}
    )
    audit.record(actor=actor, action="member.add", target=membership, engagement=engagement,
                 data={"user": user.username, "role": role})
    return membership


@transaction.atomic
def remove_member(*, actor: User, membership: Membership) -> None:
    """Take a person off the team."""
    require(actor, Can.MANAGE, membership.engagement)
    audit.record(actor=actor, action="member.remove", target=membership,
                 engagement=membership.engagement, data={"user": membership.user.username})
    membership.delete()


@transaction.atomic
def add_model(*, actor: User, engagement: Engagement, code: str, name: str, **fields
              ) -> MigratedModel:
    """A new model with its eight stage records; stages out of its scope are skipped."""
    require(actor, Can.MANAGE, engagement)
    if engagement.models.filter(code=code).exists():
        raise InvalidInput(_("The model code %(code)s is taken.") % {"code": code})
    fields.setdefault("position", engagement.models.count() + 1)
    model = MigratedModel.objects.create(engagement=engagement, code=code, name=name, **fields)
    for position, stage in enumerate(Stage.values):
        skipped = stage in OUT_OF_SCOPE[model.scope]
        record = StageRecord.objects.create(
            model=model, stage=stage, position=position,
            state=StageState.SKIPPED if skipped else StageState.NOT_STARTED,
        )
        ChecklistItem.objects.bulk_create(
            ChecklistItem(record=record, text=zh, text_en=en, position=n)
            for n, (zh, en) in enumerate(CHECKLISTS[stage])
        )
    audit.record(actor=actor, action="model.add", target=model, engagement=engagement)
    return model


@transaction.atomic
def tick_item(*, actor: User, item: ChecklistItem, is_done: bool = True) -> ChecklistItem:
    """Confirm a checklist item, or take the confirmation back."""
    engagement = item.record.engagement
    require(actor, Can.WORK, engagement)
    if item.record.state not in (StageState.IN_PROGRESS, StageState.SUBMITTED):
        raise WrongState(_("The checklist can be changed only while the stage is in progress."))
    item.done_by, item.done_at = (actor, timezone.now()) if is_done else (None, None)
    item.save(update_fields=["done_by", "done_at"])
    audit.record(actor=actor, action="checklist.tick" if is_done else "checklist.untick",
                 target=item, engagement=engagement)
    return item


MOVE_PERMISSION = {
    StageMove.START: Can.WORK,
    StageMove.SUBMIT: Can.WORK,
    StageMove.PASS: Can.MANAGE,
    StageMove.SEND_BACK: Can.MANAGE,
}


@transaction.atomic
def move_stage(*, actor: User, record: StageRecord, move: str, comment: str = ""
               ) -> StageTransition:
    """Start, submit, pass or send back a model's stage.

    Logs the transition with what the gate said and writes an audit entry.

    Raises:
        NotAllowed: the role may not.
        WrongState: the table has no such move, or an earlier stage has not passed.
        GateNotMet: passing with a failed check; `details["checks"]` lists all checks.
        InvalidInput: sending back without a reason.
    """
    require(actor, MOVE_PERMISSION[StageMove(move)], record.engagement)
    record = StageRecord.objects.select_for_update(of=("self",)).get(pk=record.pk)
    target = TRANSITIONS.get((record.state, move))
    if target is None:
        raise WrongState(
            _("%(stage)s is “%(state)s”: this step is not possible now.")
            % {"stage": record.get_stage_display(), "state": record.get_state_display()}
        )
    checks = _guard(record, move, comment)
    return _apply(actor, record, move, target, comment, checks)


def _guard(record: StageRecord, move: str, comment: str) -> list[dict]:
    if move == StageMove.START:
        _require_earlier_passed(record)
    if move == StageMove.SEND_BACK:
        if not comment.strip():
            raise InvalidInput(_("Give the reason for sending the stage back."))
        _require_later_untouched(record)
    if move != StageMove.PASS:
        return []
    results = evaluate(record)
    checks = [result.as_dict() for result in results]
    missing = [result for result in results if not result.is_met]
    if missing:
        sentences = " ".join(f"{result.label}: {result.sentence}" for result in missing)
        raise GateNotMet(_("The gate is not met.") + " " + sentences, checks=checks)
    return checks


def _require_earlier_passed(record: StageRecord) -> None:
    open_before = record.model.stages.filter(position__lt=record.position).exclude(
        state__in=[StageState.PASSED, StageState.SKIPPED]
    ).first()
    if open_before:
        raise WrongState(_("%(stage)s has not passed yet.")
                         % {"stage": open_before.get_stage_display()})


def _require_later_untouched(record: StageRecord) -> None:
    busy = record.model.stages.filter(
        position__gt=record.position,
        state__in=[StageState.IN_PROGRESS, StageState.SUBMITTED, StageState.PASSED],
    ).last()
    if busy:
        raise WrongState(_("Send back %(stage)s first: it builds on this stage.")
                         % {"stage": busy.get_stage_display()})


def _apply(actor, record, move, target, comment, checks) -> StageTransition:
    now = timezone.now()
    before, record.state = record.state, target
    stamp = {StageMove.START: "started_at", StageMove.SUBMIT: "submitted_at",
             StageMove.PASS: "passed_at"}.get(StageMove(move))
    if stamp:
        setattr(record, stamp, now)
    record.save()
    transition = StageTransition.objects.create(
        record=record, move=move, from_state=before, to_state=target, actor=actor, at=now,
        comment=comment.strip(), checks=checks,
    )
    audit.record(actor=actor, action=f"stage.{move}", target=record,
                 engagement=record.engagement,
                 data={"from": before, "to": target, "comment": comment.strip()})
    return transition
