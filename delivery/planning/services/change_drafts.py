"""Effects of a change request's draft on tasks, criteria and lines of the quote."""

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from assessments.models import CriteriaSet, Criterion
from delivery.planning.changes.days_and_lengths import lengths_by_days
from delivery.planning.changes.transitions import lock_engagement
from delivery.planning.models import (
    AddedCriterion,
    ChangeRequest,
    CriterionEffect,
    PriceEffect,
    ScheduleEffect,
    ScopeEffect,
    Task,
)
from delivery.planning.models.plan import LONGEST_TASK
from delivery.quotes.models import PriceLine, QuoteLine
from delivery.quotes.services.agreed_versions import Action
from delivery.quotes.services.lines import priced_line, require_convertible
from engagements.access import Can, allowed, require
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import User
from engagements.optimistic_locking import lock_checked, save_changes
from engagements.text.text_joining import labelled

Effect = ScopeEffect | ScheduleEffect | CriterionEffect | AddedCriterion | PriceEffect


def change_draft(actor: User, change: ChangeRequest, seen: int | None = None, *,
                 of_price: bool = False) -> ChangeRequest:
    """The locked row of a draft that the actor may change; what it costs also who prices.

    Raises WrongState once it was submitted, EditConflict when it moved on since `seen`.
    """
    is_pricing = of_price and not allowed(actor, Can.WORK)
    require(actor, Can.PRICE if is_pricing else Can.WORK, change.engagement)
    lock_engagement(change)
    change = lock_checked(change, seen)
    if change.state != ChangeRequest.State.DRAFT:
        raise WrongState(_("Only a draft can be changed; create a new change request."))
    return change


@transaction.atomic
def set_schedule_effect(*, actor: User, change: ChangeRequest, task: Task, days_after: int
                        ) -> ScheduleEffect:
    """A task's new length in working days, once the change is in force."""
    change = change_draft(actor, change)
    if task.plan.engagement_id != change.engagement_id:
        raise InvalidInput(_("A task belongs to another plan."))
    if not 0 <= days_after <= LONGEST_TASK:
        raise InvalidInput(_("A task lasts from 0 to %(days)d working days.")
                           % {"days": LONGEST_TASK})
    effect, _created = ScheduleEffect.objects.update_or_create(
        change=change, task=task, defaults={"days_before": task.days, "days_after": days_after})
    save_changes(change, actor=actor, action="change.effect", engagement=change.engagement,
                 changed={str(task): (task.days, days_after)})
    return effect


@transaction.atomic
def set_criterion_effect(*, actor: User, change: ChangeRequest, criterion: Criterion,
                         threshold_after: Decimal) -> CriterionEffect:
    """A signed criterion's new threshold; a fraction for figures in per cent."""
    change = change_draft(actor, change)
    if (criterion.criteria_set.engagement_id != change.engagement_id
            or criterion.criteria_set.state != CriteriaSet.State.SIGNED):
        raise InvalidInput(_("Choose a criterion of the signed criteria of this engagement."))
    effect, _created = CriterionEffect.objects.update_or_create(
        change=change, criterion=criterion, defaults={
            "threshold_before": criterion.threshold, "threshold_after": threshold_after})
    save_changes(change, actor=actor, action="change.effect", engagement=change.engagement,
                 changed={str(criterion): (criterion.threshold, threshold_after)})
    return effect


@transaction.atomic
def set_price_effect(*, actor: User, change: ChangeRequest, action: str,
                     line: QuoteLine | None = None, price: PriceLine | None = None,
                     quantity: Decimal | None = None, months: Decimal | None = None,
                     unit_price: Decimal | None = None) -> PriceEffect:
    """A line of the quote to be added, changed or removed, once the change is in force.

    Args:
        line: of the change's quote, to change or remove.
        price: item of a price list, to add.
        quantity, months, unit_price: what is left out stays as on the line, else as listed.

    Raises InvalidInput for a foreign line or figures that cannot be, NotAllowed for another unit
    price without the right to price.
    """
    change = change_draft(actor, change, of_price=True)
    before = _checked_line(change, action, line, price)
    fields = {"quantity": quantity, "months": months, "unit_price": unit_price}
    after = {name: getattr(before, name) if value is None else Decimal(value)
             for name, value in fields.items()}
    if after["unit_price"] != before.unit_price and not allowed(actor, Can.PRICE):
        raise NotAllowed(_("Only people who price quotes can set a different unit price."))
    if after["quantity"] <= 0 or after["months"] <= 0 or after["unit_price"] < 0:
        raise InvalidInput(_("Quantity and months must be greater than zero."))
    return _saved_effect(actor, change, action, line, price, before, after)


def _checked_line(change: ChangeRequest, action: str, line: QuoteLine | None,
                  price: PriceLine | None) -> QuoteLine:
    """The line as it stands, or as it would come from the price list."""
    if change.quote is None:
        raise InvalidInput(_("Choose the quote to be revised first."))
    if action == Action.ADD:
        if price is None:
            raise InvalidInput(_("Choose the item of the price list."))
        require_convertible(change.quote, price.card)
        return priced_line(change.quote, price, price.quantity, Decimal(1), 0)
    if line is None or line.quote_id != change.quote_id:
        raise InvalidInput(_("Choose a line of %(quote)s.") % {"quote": change.quote})
    return line


def _saved_effect(actor: User, change: ChangeRequest, action: str, line: QuoteLine | None,
                  price: PriceLine | None, before: QuoteLine, after: dict) -> PriceEffect:
    lengths = lengths_by_days(change)
    if action == Action.ADD:
        effect = PriceEffect.objects.create(change=change, action=action, price=price, **after)
    else:
        effect, _created = PriceEffect.objects.update_or_create(
            change=change, line=line, defaults={"action": action, **after})
    figures = [f"{row['quantity']} × {row['unit_price']}" for row in (
        {"quantity": before.quantity, "unit_price": before.unit_price}, after)]
    save_changes(change, actor=actor, action="change.effect", engagement=change.engagement,
                 changed={labelled(effect.get_action_display(), effect): tuple(figures),
                          **_follow_days(change, lengths)})
    return effect


def _follow_days(change: ChangeRequest, before: dict[Task, int]) -> dict[str, tuple[int, int]]:
    """Bring the tasks' lengths to the person-days in the price; returns what that changes. Lengths
    that somebody entered or took out stay.

    Args:
        before: lengths by the days of before (see `lengths_by_days`).
    """
    after, changed = lengths_by_days(change), {}
    own = {effect.task_id: effect.days_after for effect in change.schedule_effects.all()}
    for task in {**before, **after}:
        days = after.get(task)
        if own.get(task.pk) != before.get(task) or days == before.get(task):
            continue
        if days is None:
            change.schedule_effects.filter(task=task).delete()
        else:
            change.schedule_effects.update_or_create(
                task=task, defaults={"days_before": task.days, "days_after": days})
        changed[str(task)] = (own.get(task.pk, task.days), task.days if days is None else days)
    return changed


@transaction.atomic
def remove_effect(*, actor: User, effect: Effect) -> None:
    """Take an effect out of a draft; with a model to be added go its criteria."""
    change = change_draft(actor, effect.change, of_price=isinstance(effect, PriceEffect))
    lengths = lengths_by_days(change) if isinstance(effect, PriceEffect) else None
    if isinstance(effect, ScopeEffect) and effect.code:
        change.added_criteria.filter(code=effect.code).delete()
    type(effect).objects.filter(pk=effect.pk).delete()
    save_changes(change, actor=actor, action="change.remove_effect",
                 engagement=change.engagement, changed={
                     str(effect): ("", "--"),
                     **({} if lengths is None else _follow_days(change, lengths))})
