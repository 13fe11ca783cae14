"""Models and stages that a change request brings in or takes out."""

from collections import defaultdict
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.planning.changes.effort_effects import days_between
from delivery.planning.changes.scope_effects import stages_of
from delivery.planning.models import (
    ChangeRequest,
    Grade,
    PriceEffect,
    ScopeAction,
    ScopeEffect,
    WorkItem,
)
from delivery.planning.services.change_drafts import change_draft, remove_effect, set_price_effect
from delivery.planning.services.quoting import SERVICE_OF
from delivery.quotes.models import PriceLine, QuoteLine, RateCard
from delivery.quotes.services.agreed_versions import Action
from engagements import services as engagement_services
from engagements.errors import InvalidInput, WrongState
from engagements.models import MigratedModel, User
from engagements.optimistic_locking import save_changes
from engagements.services.migrated_models import require_model_code
from engagements.stages import NEVER_SKIPPED, StageMove, StageState
from engagements.text.text_joining import labelled

SETTLED = (StageState.SUBMITTED, StageState.PASSED, StageState.WAIVED)


@transaction.atomic
def set_scope_effect(*, actor: User, change: ChangeRequest, action: str,
                     model: MigratedModel | None = None, stage: str = "", **facts) -> ScopeEffect:
    """A model or a stage of one that comes in or falls out, once the change is in force.

    Args:
        model: the model that is dropped, or whose stage it is.
        facts: code, name, name_en, scope and parameters_billion of a model to be added.
    Raises:
        InvalidInput: what is missing for the action. WrongState: what cannot happen now.
    """
    change = change_draft(actor, change)
    if action == ScopeAction.ADD_MODEL:
        model, stage = None, ""
    else:
        stage, facts = "" if action == ScopeAction.DROP_MODEL else stage, {}
    effect = ScopeEffect(change=change, action=action, model=model, stage=stage, **facts)
    _require_whole(effect)
    require_possible(effect)
    _require_single(effect)
    effect.save()
    save_changes(change, actor=actor, action="change.effect", engagement=change.engagement,
                 changed={effect.get_action_display(): ("--", effect)})
    return effect


@transaction.atomic
def set_scope(*, actor: User, change: ChangeRequest, is_priced: bool = False, **effect
              ) -> list[str]:
    """Set a scope effect, with `is_priced` together with its days in the quote, or neither.

    Returns the sentences of `price_scope`.
    """
    made = set_scope_effect(actor=actor, change=change, **effect)
    return price_scope(actor=actor, change=made.change) if is_priced else []


def _require_whole(effect: ScopeEffect) -> None:
    if effect.action == ScopeAction.ADD_MODEL:
        effect.code, effect.name = effect.code.strip(), effect.name.strip()
        if not (effect.code and effect.name):
            raise InvalidInput(_("Give code and name of the model to be added."))
        require_model_code(effect.code)
        return
    if effect.model is None or effect.model.engagement_id != effect.change.engagement_id:
        raise InvalidInput(_("Choose a model of this engagement."))
    if effect.action != ScopeAction.DROP_MODEL and not effect.stage:
        raise InvalidInput(_("Choose the stage."))


def _require_single(effect: ScopeEffect) -> None:
    """One effect per model or stage, and none on a stage of a model that is dropped."""
    others = effect.change.scope_effects.exclude(pk=effect.pk)
    clashing = (others.filter(code=effect.code) if effect.model is None
                else others.filter(model=effect.model))
    if effect.stage:
        clashing = clashing.filter(stage__in=["", effect.stage])
    if found := clashing.first():
        raise InvalidInput(_("This change already includes: %(what)s. Remove that first.")
                           % {"what": labelled(found.get_action_display(), found)})


def require_possible(effect: ScopeEffect) -> None:
    """Raise WrongState where the effect could not come into force now; the message says why."""
    model = effect.model
    if model is None:
        if effect.change.engagement.models.filter(code=effect.code).exists():
            raise WrongState(_("The model code %(code)s is taken.") % {"code": effect.code})
        return
    if model.dropped_at:
        raise WrongState(_("%(model)s has already been dropped from the "
                           "project.") % {"model": model})
    records = {record.stage: record for record in model.stages.all()}
    if effect.action == ScopeAction.DROP_MODEL:
        _require_unsubmitted(records.values())
    else:
        _require_stage_free(effect, records[effect.stage])
    _require_free_tasks(effect)


def _require_unsubmitted(records) -> None:
    for record in records:
        if record.state == StageState.SUBMITTED:
            raise WrongState(_("%(stage)s is submitted: pass it or send it back first.")
                             % {"stage": record})


def _require_stage_free(effect: ScopeEffect, record) -> None:
    is_in = record.state != StageState.SKIPPED
    if effect.action == ScopeAction.ADD_STAGE:
        if is_in:
            raise WrongState(_("%(stage)s is already in scope.") % {"stage": record})
    elif not is_in or record.stage in NEVER_SKIPPED or record.state in SETTLED:
        raise WrongState(_("%(stage)s cannot be taken out of scope: it is “%(state)s”.") % {
            "stage": record, "state": record.get_state_display()})


def _require_free_tasks(effect: ScopeEffect) -> None:
    """No effect of the same change speaks of a task or criterion that falls out."""
    if effect.action in (ScopeAction.ADD_MODEL, ScopeAction.ADD_STAGE):
        return
    stages = stages_of(effect)
    task = effect.change.schedule_effects.filter(
        task__model=effect.model, task__stage__in=stages).first()
    criterion = effect.change.criterion_effects.filter(
        criterion__model=effect.model, criterion__stage__in=stages).first()
    if found := task or criterion:
        raise WrongState(_("“%(what)s” is removed together with %(model)s; remove its "
                           "effect first.") % {
            "what": found, "model": effect.model})


def apply_scope(change: ChangeRequest, actor: User) -> dict[str, MigratedModel]:
    """Move what comes in and falls out, through the services of engagements.

    Returns the models that came in, by code. The caller's transaction holds it all.
    """
    made, reason = {}, str(change)
    for effect in change.scope_effects.select_related("model"):
        if effect.action == ScopeAction.ADD_MODEL:
            made[effect.code] = engagement_services.add_model(
                actor=actor, engagement=change.engagement, code=effect.code, name=effect.name,
                name_en=effect.name_en, scope=effect.scope,
                parameters_billion=effect.parameters_billion, is_approved=True)
        elif effect.action == ScopeAction.DROP_MODEL:
            engagement_services.drop_model(actor=actor, model=effect.model, reason=reason,
                                           is_approved=True)
        else:
            move = (StageMove.RESTORE if effect.action == ScopeAction.ADD_STAGE
                    else StageMove.SKIP)
            engagement_services.move_stage(actor=actor,
                                           record=effect.model.stages.get(stage=effect.stage),
                                           move=move, comment=reason, is_approved=True)
    return made


@transaction.atomic
def price_scope(*, actor: User, change: ChangeRequest) -> list[str]:
    """Take the days of what comes in and falls out over into lines of the change's quote.

    Safe to repeat: lines that it concerns are computed anew from the quote as it stands.
    Returns a sentence for every service and grade that neither quote nor price list holds.
    Raises InvalidInput without a quote or without anything that comes in or falls out.
    """
    change = change_draft(actor, change, of_price=True)
    if change.quote is None:
        raise InvalidInput(_("Choose the quote to be revised first."))
    days = quoted_days(change)
    if not days:
        raise InvalidInput(_("The person-days stay the same: no line of the quote changes. "
                             "Leave the quote out."))
    added: dict[PriceLine, Decimal] = defaultdict(Decimal)
    sentences = [sentence for (code, grade), more in days.items()
                 if (sentence := _price(actor, change, code, grade, more, added))]
    for price, more in added.items():
        for effect in PriceEffect.objects.filter(change=change, price=price):
            remove_effect(actor=actor, effect=effect)
        set_price_effect(actor=actor, change=change, action=Action.ADD, price=price,
                         quantity=more)
    return sentences


def quoted_days(change: ChangeRequest) -> dict[tuple[str, str], Decimal]:
    """Days more or less by service (DOMAIN 6.2) and grade, project management included."""
    days: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for (item, grade), more in days_between(change).items():
        days[SERVICE_OF[WorkItem(item)], grade] += more
    return {key: value for key, value in days.items() if value}


def _price(actor: User, change: ChangeRequest, code: str, grade: str, more: Decimal,
           added: dict[PriceLine, Decimal]) -> str:
    """Change the line of the quote, or count the days to an item to be added; else a sentence."""
    line = QuoteLine.objects.filter(quote=change.quote, code=code, grade=grade,
                                    unit="person_day").first()
    if line:
        after = line.quantity + more
        action = Action.CHANGE if after > 0 else Action.REMOVE
        set_price_effect(actor=actor, change=change, action=action, line=line,
                         quantity=after if after > 0 else None)
        return ""
    price = _listed(change, code, grade) if more > 0 else None
    if price is None:
        return _("%(code)s · %(grade)s, %(days)s person-days: neither the quote nor a price list "
                 "has such a line; add the effect by hand.") % {
            "code": code, "grade": Grade(grade).label, "days": f"{more:f}"}
    added[price] += more
    return ""


def _listed(change: ChangeRequest, code: str, grade: str) -> PriceLine | None:
    """The service in that grade, else the grade's own person-day, on a list valid today."""
    rows = PriceLine.objects.exclude(unit_price=None).filter(
        card__in=RateCard.objects.valid_on(change.quote.quote_date), grade=grade,
        card__currency=change.quote.currency, unit="person_day")
    return rows.filter(code=code).first() or rows.first()
