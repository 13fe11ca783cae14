"""What an approved change does to scope, estimate, criteria, plan and quote.

The services of each do it. The caller's transaction holds it all: an error anywhere undoes
everything.
"""

from django.utils.translation import gettext as _

from assessments import services as assessing
from assessments.definitions.threshold_units import ThresholdUnit
from assessments.models import CriteriaSet, Criterion
from delivery.planning.changes.effort_effects import effort_effect, estimate_after
from delivery.planning.changes.rescheduling import Rescheduling, apply_rescheduling, reschedule
from delivery.planning.changes.scope_effects import criteria_out
from delivery.planning.effort.usage import current_estimate
from delivery.planning.models import (
    ChangeRequest,
    CriterionEffect,
    EffortEstimate,
    EffortLine,
    Plan,
    PlanBaseline,
)
from delivery.planning.services import estimates as estimating
from delivery.planning.services import plans as planning
from delivery.planning.services.added_criteria import require_model, sign_added
from delivery.planning.services.estimates import require_no_draft
from delivery.planning.services.scope_effects import apply_scope, require_possible
from delivery.quotes import services as quoting
from delivery.quotes.models import Quote
from delivery.quotes.services.agreed_versions import require_in_force
from engagements import services as engagement_services
from engagements.errors import WrongState
from engagements.models import MigratedModel, User


def require_current(change: ChangeRequest) -> None:
    """Raise WrongState when what the change starts from is no longer what is in force."""
    for effect in change.criterion_effects.select_related("criterion__criteria_set"):
        if effect.criterion.criteria_set.state != CriteriaSet.State.SIGNED:
            raise WrongState(_("The signed criteria have changed since this request was written "
                               "(%(criterion)s). Write a new one.")
                             % {"criterion": effect.criterion})
    for effect in change.schedule_effects.select_related("task__model"):
        if effect.task.days != effect.days_before:
            raise WrongState(_("“%(task)s” has changed since this request was written: it lasts "
                               "%(days)d working days now. Write a new one.")
                             % {"task": effect.task, "days": effect.task.days})
    for effect in change.scope_effects.select_related("model", "change"):
        require_possible(effect)
    for row in change.added_criteria.select_related("change"):
        require_model(row)
    if change.scope_effects.exists():
        require_no_draft(change.engagement)
    begin = change.engagement.starts_on
    if change.ends_on and begin and change.ends_on < begin:
        raise WrongState(_("The new end of the contract is before its start, %(day)s.") % {
            "day": begin})
    if change.quote:
        require_in_force(change.quote)


def require_unchanged(change: ChangeRequest) -> None:
    """Raise WrongState when a submitted change would not come to what it says any more."""
    require_current(change)
    _estimate_lines(change)
    contract, now = change.facts["schedule"].get("contract"), change.engagement.ends_on
    if contract and contract[0] != str(now or ""):
        raise WrongState(_("The contract ends on %(day)s now; create a new change request.") % {
            "day": now})


def apply_effects(change: ChangeRequest) -> None:
    """Move models and stages in and out, sign new criteria, agree on a new version of the
    estimate and of the quote, change the plan and its baseline.

    The firm's approver does it; the customer's approver stands as the signatory.
    """
    require_current(change)
    actor = change.firm_approved_by
    drawn, lines = _drawn(change), _estimate_lines(change)
    models = apply_scope(change, actor)
    change.new_estimate = _new_estimate(change, actor, lines, models) if lines else None
    change.new_criteria = _new_criteria(change, actor)
    if drawn:
        apply_rescheduling(drawn, models)
    change.new_baseline = _new_baseline(change, actor)
    change.new_quote = _new_quote_version(change, actor) if change.quote else None
    if change.ends_on:
        engagement_services.update_engagement(actor=actor, engagement=change.engagement,
                                              is_approved=True, ends_on=change.ends_on)
    change.save()


def _new_criteria(change: ChangeRequest, actor: User) -> CriteriaSet | None:
    effects = list(change.criterion_effects.select_related("criterion"))
    out = criteria_out(change)
    if not (effects or out or change.added_criteria.exists()):
        return None
    draft = assessing.draft_criteria(actor=actor, engagement=change.engagement)
    for effect in effects:
        _replace(draft, effect, actor)
    for criterion in out:
        assessing.remove_criterion(actor=actor, criterion=_copy(draft, criterion))
    sign_added(change, draft, actor)
    return assessing.sign_criteria(actor=actor, criteria_set=draft,
                                   approved_by=change.customer_approved_by)


def _replace(draft: CriteriaSet, effect: CriterionEffect, actor: User) -> None:
    old: Criterion = effect.criterion
    assessing.remove_criterion(actor=actor, criterion=_copy(draft, old))
    assessing.add_criterion(
        actor=actor, criteria_set=draft, model=old.model, definition=old.definition,
        stage=old.stage, threshold=effect.threshold_after, baseline=old.baseline,
        threshold_unit=ThresholdUnit.FRACTION)


def _copy(draft: CriteriaSet, old: Criterion) -> Criterion:
    copy = draft.criteria.filter(
        model=old.model, definition=old.definition, stage=old.stage, baseline=old.baseline,
        threshold=old.threshold).first()
    if copy is None:
        raise WrongState(_("%(criterion)s is not in the criteria any more.")
                         % {"criterion": old})
    return copy


def _drawn(change: ChangeRequest) -> Rescheduling | None:
    """The plan with what comes in and falls out, with the days that both sides signed."""
    rows = change.facts["scope"]["effects"]
    plan = Plan.objects.filter(engagement=change.engagement).first()
    return reschedule(plan, change, rows) if plan and rows else None


def _estimate_lines(change: ChangeRequest) -> list[EffortLine]:
    """Lines of the estimate after the change; its days must be the ones that were signed."""
    if not (change.scope_effects.exists() and current_estimate(change.engagement)):
        return []
    now = effort_effect(change)
    if now != change.facts["effort"]:
        raise WrongState(_("The change would now total %(now)s person-days; %(signed)s were "
                           "signed. Create a new change request.") % {
            "now": now["days"], "signed": change.facts["effort"]["days"]})
    return estimate_after(change)


def _new_estimate(change: ChangeRequest, actor: User, lines: list[EffortLine],
                  models: dict[str, MigratedModel]) -> EffortEstimate:
    for line in lines:
        if line.model:
            line.model = models.get(line.model.code, line.model)
    return estimating.agree_on_estimate(actor=actor, author=change.created_by, lines=lines,
                                        engagement=change.engagement)


def _new_baseline(change: ChangeRequest, actor: User) -> PlanBaseline | None:
    effects = list(change.schedule_effects.select_related("task__plan__engagement"))
    plan = Plan.objects.filter(engagement=change.engagement).first()
    if plan is None or not (effects or change.scope_effects.exists()):
        return None
    for effect in effects:
        planning.update_task(actor=actor, task=effect.task, days=effect.days_after)
    return planning.take_baseline(actor=actor, reason=str(change)[:240], plan=plan)


def _new_quote_version(change: ChangeRequest, actor: User) -> Quote:
    """The version with the changed lines; its totals must be the ones that were signed."""
    made = quoting.agree_on_version(
        actor=actor, author=change.created_by, customer=change.customer_approved_by,
        quote=change.quote, reason=str(change),
        changes=[effect.as_change() for effect in
                 change.price_effects.select_related("line", "price__card")])
    signed = {name: after for name, (_before, after, _difference)
              in change.facts["price"]["totals"].items()}
    if any(made.snapshot["totals"][name] != figure for name, figure in signed.items()):
        raise WrongState(_("The new quote would total %(now)s; %(signed)s was signed. "
                           "Create a new change request.") % {
            "now": made.snapshot["totals"]["gross"], "signed": signed["gross"]})
    return made
