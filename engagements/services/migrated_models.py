"""Writes about a customer's models: their facts, and which stages they go through."""

import re
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.agreed_scope import require_open_scope
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import InvalidInput, WrongState
from engagements.models import ChecklistItem, Engagement, MigratedModel, StageRecord, User
from engagements.optimistic_locking import assign, lock_checked, save_changes
from engagements.services.field_validation import validate_fields
from engagements.services.stage_moves import move_stage, take_out
from engagements.signals import model_added, model_dropped
from engagements.stage_forms import STAGE_FORMS
from engagements.stages import DONE, OUT_OF_SCOPE, Scope, Stage, StageMove, StageState

CODE = re.compile(r"[A-Za-z0-9_-]+")
MODEL_FACTS = ("name", "name_en", "task", "task_en", "framework", "training_route",
               "inference_route", "parameters_billion", "cards", "repository")


def require_model_code(code: str) -> str:
    """The code of a new model. Raises InvalidInput for one that addresses do not hold."""
    if not CODE.fullmatch(code):
        raise InvalidInput(_("A model code consists of letters, digits, - and _ only."))
    return code


@retried
@transaction.atomic
def add_model(*, actor: User, engagement: Engagement, code: str, name: str,
              is_approved: bool = False, **fields) -> MigratedModel:
    """A new model with its stage records; stages out of its scope are skipped.

    Args:
        is_approved: by a change request; without one, WrongState where the scope is agreed.
    """
    require(actor, Can.MANAGE, engagement)
    require_open_scope(engagement, is_approved=is_approved)
    if engagement.models.filter(code=code).exists():
        raise InvalidInput(_("The model code %(code)s is taken.") % {"code": code})
    fields.setdefault("position", engagement.models.count() + 1)
    model = MigratedModel.objects.create(engagement=engagement, code=code, name=name, **fields)
    records = StageRecord.objects.bulk_create([
        StageRecord(model=model, stage=stage, position=position, state=StageState.SKIPPED
                    if stage in OUT_OF_SCOPE[model.scope] else StageState.NOT_STARTED)
        for position, stage in enumerate(Stage.values)])
    ChecklistItem.objects.bulk_create([
        ChecklistItem(record=record, text=item.text, text_en=item.text_en, position=n,
                      needs_evidence=item.needs_evidence)
        for record in records for n, item in enumerate(STAGE_FORMS[record.stage].checklist)])
    model_added.send(MigratedModel, model=model, actor=actor)
    audit_log.record(actor=actor, action="model.add", target=model, engagement=engagement)
    return model


@retried
@transaction.atomic
def update_model(*, actor: User, model: MigratedModel, seen: int | None = None, **facts: Any
                 ) -> MigratedModel:
    """Change facts of a model (MODEL_FACTS); the audit entry holds what changed.

    Raises InvalidInput for a value that does not fit its field; EditConflict when the model moved
    on since version `seen`; NotAllowed.
    """
    require(actor, Can.MANAGE, model.engagement)
    if unknown := set(facts) - set(MODEL_FACTS):
        raise InvalidInput(_("Not a field of a model: %(names)s.")
                           % {"names": ", ".join(sorted(unknown))})
    model = lock_checked(model, seen)
    changed = assign(model, facts)
    validate_fields(model, facts)
    if changed:
        save_changes(model, actor=actor, action="model.update", engagement=model.engagement,
                     changed=changed)
    return model


@retried
@transaction.atomic
def set_model_scope(*, actor: User, model: MigratedModel, scope: str, reason: str
                    ) -> MigratedModel:
    """Change a model's scope: stages that fall out are skipped, those that come in are restored.

    Stages that were taken out one by one stay as they are. Logs a move for each stage.
    Raises WrongState, with nothing changed, when a stage that falls out is submitted or done,
    when later stages build on one that comes in, or where the scope is agreed; NotAllowed.
    """
    require(actor, Can.MANAGE, model.engagement)
    require_open_scope(model.engagement, is_approved=False)
    model = MigratedModel.objects.select_for_update(of=("self",), no_key=True).get(pk=model.pk)
    before, model.scope = model.scope, Scope(scope).value
    out, within = OUT_OF_SCOPE[scope] - OUT_OF_SCOPE[before], (
        OUT_OF_SCOPE[before] - OUT_OF_SCOPE[scope])
    for record in model.stages.filter(stage__in=out).exclude(state=StageState.SKIPPED):
        _move(actor, record, StageMove.SKIP, reason)
    for record in model.stages.filter(stage__in=within, state=StageState.SKIPPED):
        _move(actor, record, StageMove.RESTORE, reason)
    model.save(update_fields=["scope"])
    audit_log.record(actor=actor, action="model.scope", target=model, engagement=model.engagement,
                     data={"from": before, "to": model.scope, "reason": reason.strip()})
    return model


@retried
@transaction.atomic
def drop_model(*, actor: User, model: MigratedModel, reason: str, is_approved: bool = False
               ) -> MigratedModel:
    """Take a model out of the project; what was let through stays on record.

    Every open stage is skipped, survey and acceptance included; each has its logged move. Its jobs
    on their way are cancelled (`model_dropped`).
    Raises InvalidInput without a reason; WrongState for a model that is out already, whose stage
    is submitted, or where the scope is agreed and no change request `is_approved`; NotAllowed.
    """
    require(actor, Can.MANAGE, model.engagement)
    require_open_scope(model.engagement, is_approved=is_approved)
    model = MigratedModel.objects.select_for_update(of=("self",), no_key=True).get(pk=model.pk)
    if not reason.strip():
        raise InvalidInput(_("Give the reason."))
    if model.dropped_at:
        raise WrongState(_("%(model)s has already been dropped from the "
                           "project.") % {"model": model})
    for record in model.stages.exclude(state__in=DONE):
        take_out(actor, record, reason)
    model.dropped_at, model.drop_reason = timezone.now(), reason.strip()[:240]
    model.save(update_fields=["dropped_at", "drop_reason"])
    model_dropped.send(MigratedModel, model=model, actor=actor)
    audit_log.record(actor=actor, action="model.drop", target=model, engagement=model.engagement,
                     data={"reason": model.drop_reason})
    return model


def _move(actor: User, record: StageRecord, move: str, reason: str) -> None:
    move_stage(actor=actor, record=record, move=move, comment=reason)
