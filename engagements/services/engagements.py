"""Writes that shape an engagement: customer, facts, team, models."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import (
    ChecklistItem,
    Customer,
    Engagement,
    Membership,
    MigratedModel,
    Role,
    StageRecord,
    User,
)
from engagements.stage_forms import STAGE_FORMS
from engagements.stages import OUT_OF_SCOPE, Stage, StageState


@transaction.atomic
def create_customer(*, actor: User, name: str, **fields) -> Customer:
    """A new customer. Writes an audit entry."""
    if not (set(PRICING_ROLES) & {actor.role}):
        require(actor, Can.MANAGE)
    customer = Customer.objects.create(name=name.strip(), **fields)
    audit_log.record(actor=actor, action="customer.create", target=customer)
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
    audit_log.record(actor=actor, action="engagement.create", target=engagement,
                 engagement=engagement)
    return engagement


@transaction.atomic
def update_engagement(*, actor: User, engagement: Engagement, **fields) -> Engagement:
    """Change facts of an engagement; the audit entry holds what changed."""
    require(actor, Can.MANAGE, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    changed = {k: [getattr(engagement, k), v] for k, v in fields.items()
               if getattr(engagement, k) != v}
    for key, (_before, after) in changed.items():
        setattr(engagement, key, after)
    if engagement.starts_on and engagement.ends_on and engagement.ends_on < engagement.starts_on:
        raise InvalidInput(_("The end lies before the start."))
    engagement.save()
    audit_log.record(actor=actor, action="engagement.update", target=engagement,
                 engagement=engagement,
                 data={k: [str(a), str(b)] for k, (a, b) in changed.items()})
    return engagement


def mark_practice(*, engagement: Engagement) -> None:
    """Note for good that the engagement holds data of a practice node (PRODUCT rule 7)."""
    Engagement.objects.filter(pk=engagement.pk, has_practice_data=False).update(
        has_practice_data=True)


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
    audit_log.record(actor=actor, action="member.add", target=membership, engagement=engagement,
                 data={"user": user.username, "role": role})
    return membership


@transaction.atomic
def add_members(*, actor: User, engagement: Engagement, users: Iterable[User], role: str = ""
                ) -> list[Membership]:
    """Put people on the team, all of them or none."""
    return [add_member(actor=actor, engagement=engagement, user=user, role=role)
            for user in users]


@transaction.atomic
def remove_member(*, actor: User, membership: Membership) -> None:
    """Take a person off the team."""
    require(actor, Can.MANAGE, membership.engagement)
    Membership.objects.filter(pk=membership.pk).delete()
    audit_log.record(actor=actor, action="member.remove", target=membership,
                 engagement=membership.engagement, data={"user": membership.user.username})


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
            ChecklistItem(record=record, text=item.text, text_en=item.text_en, position=n,
                          needs_evidence=item.needs_evidence)
            for n, item in enumerate(STAGE_FORMS[stage].checklist)
        )
    audit_log.record(actor=actor, action="model.add", target=model, engagement=engagement)
    return model
