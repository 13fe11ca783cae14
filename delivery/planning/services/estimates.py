"""Writes of effort estimates. Each function owns its transaction, lock and audit entry."""

from collections.abc import Mapping
from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.planning.changes.effort_effects import effort_line
from delivery.planning.effort import calibration
from delivery.planning.effort.model_facts import model_facts
from delivery.planning.estimation import Line, management_line, model_lines
from delivery.planning.models import EffortEstimate, EffortLine
from delivery.quotes.models import Quote
from engagements import duties
from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.duties import Duty, require_separated
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from engagements.optimistic_locking import lock_checked, save_changes


@transaction.atomic
def draft_estimate(*, actor: User, engagement: Engagement) -> EffortEstimate:
    """A new draft version, computed from what is known of the models now.

    Adjustments of the version before, with their reasons, are carried over where their line
    exists again. Whoever delivers or prices may do it.
    Raises WrongState while another draft is open, InvalidInput without models.
    """
    require(actor, Can.WORK if allowed(actor, Can.WORK) else Can.PRICE, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    before = engagement.estimates.first()
    if before and before.state == EffortEstimate.State.DRAFT:
        raise WrongState(_("Version %(version)d is still a draft; continue editing it.")
                         % {"version": before.version})
    rows = _computed(engagement)
    draft = EffortEstimate.objects.create(
        engagement=engagement, version=before.version + 1 if before else 1, created_by=actor)
    EffortLine.objects.bulk_create(
        _placed(draft, effort_line(model, line), n) for n, (model, line) in enumerate(rows))
    _carry_over(before, draft)
    audit_log.record(actor=actor, action="estimate.draft", target=draft, engagement=engagement)
    return draft


def _computed(engagement: Engagement) -> list[tuple[MigratedModel | None, Line]]:
    known = calibration.history()
    rows = [(model, line) for model in engagement.models.current()
            for line in model_lines(model_facts(model), known)]
    if not rows:
        raise InvalidInput(_("Add the models first: there is nothing to estimate."))
    return [*rows, (None, management_line([line for _model, line in rows]))]


def _placed(estimate: EffortEstimate, line: EffortLine, position: int) -> EffortLine:
    line.pk, line.estimate, line.position = None, estimate, position
    return line


def _carry_over(before: EffortEstimate | None, draft: EffortEstimate) -> None:
    adjusted = {(line.model_id, line.item, line.grade): line
                for line in (before.lines.exclude(reason="") if before else ())}
    for line in draft.lines.all():
        old = adjusted.pop((line.model_id, line.item, line.grade), None)
        if old:
            line.low, line.likely, line.high = old.low, old.likely, old.high
            line.reason = old.reason
            line.save()
    by_hand = [line for line in adjusted.values() if line.basis == [["manual", {}]]]
    for line in by_hand:
        line.pk, line.estimate = None, draft
    EffortLine.objects.bulk_create(by_hand)


@transaction.atomic
def adjust_line(*, actor: User, line: EffortLine, low: Decimal, likely: Decimal, high: Decimal,
                reason: str, seen: int | None = None) -> EffortLine:
    """Replace the days of a line. The reason is kept beside what the rules gave.

    Raises EditConflict when the estimate moved on since version `seen`.
    """
    estimate = _open_draft(actor, line.estimate, seen)
    line = EffortLine.objects.select_related("model").get(pk=line.pk, estimate=estimate)
    days = _checked_days(low, likely, high)
    if not reason.strip():
        raise InvalidInput(_("Give the reason for the adjustment."))
    before = f"{line.low}/{line.likely}/{line.high}"
    line.low, line.likely, line.high = days
    line.reason = reason.strip()
    line.save()
    save_changes(estimate, actor=actor, action="estimate.adjust", engagement=estimate.engagement,
                 changed={str(line): (before, f"{line.low}/{line.likely}/{line.high}")})
    return line


@transaction.atomic
def add_effort_line(*, actor: User, estimate: EffortEstimate, stage: str, item: str, grade: str,
                    low: Decimal, likely: Decimal, high: Decimal, reason: str,
                    model: MigratedModel | None = None, seen: int | None = None) -> EffortLine:
    """A line that the rules do not give, with the reason why it is needed."""
    estimate = _open_draft(actor, estimate, seen)
    if model and model.engagement_id != estimate.engagement_id:
        raise InvalidInput(_("The model belongs to another engagement."))
    days = _checked_days(low, likely, high)
    if not reason.strip():
        raise InvalidInput(_("Give the reason for the adjustment."))
    if estimate.lines.filter(model=model, item=item, grade=grade).exists():
        raise InvalidInput(_("There is a line of this model, item and grade: adjust it instead."))
    line = EffortLine.objects.create(
        estimate=estimate, model=model, stage=stage, item=item, grade=grade, low=days[0],
        likely=days[1], high=days[2], reason=reason.strip(), basis=[["manual", {}]],
        position=estimate.lines.count())
    save_changes(estimate, actor=actor, action="estimate.add_line", engagement=estimate.engagement,
                 changed={str(line): ("--", f"{line.low}/{line.likely}/{line.high}")})
    return line


def _done_by(estimate: EffortEstimate) -> Mapping[Duty, set]:
    return {Duty.AUTHOR: {estimate.created_by_id}, Duty.APPROVER: {estimate.approved_by_id}}


def _steps(_estimate: EffortEstimate) -> list[duties.Step]:
    return [duties.Step(Duty.APPROVER, _("Approve"), lambda user: allowed(user, Can.MANAGE))]


DUTIES = duties.register(duties.DutyRule(
    code="estimate", title=gettext_lazy("Effort estimates"), done_by=_done_by, steps=_steps))


@transaction.atomic
def approve_estimate(*, actor: User, estimate: EffortEstimate) -> EffortEstimate:
    """Freeze a draft; the approved version before is superseded. Authors do not approve theirs."""
    require(actor, Can.MANAGE, estimate.engagement)
    estimate = EffortEstimate.objects.select_for_update(
        of=("self",), no_key=True).get(pk=estimate.pk)
    _require_draft(estimate)
    require_separated(DUTIES, actor, estimate, Duty.APPROVER)
    estimate.engagement.estimates.filter(state=EffortEstimate.State.APPROVED).update(
        state=EffortEstimate.State.SUPERSEDED)
    estimate.state, estimate.approved_by = EffortEstimate.State.APPROVED, actor
    estimate.approved_at = timezone.now()
    estimate.save()
    audit_log.record(actor=actor, action="estimate.approve", target=estimate,
                     engagement=estimate.engagement)
    return estimate


def approve_with_quote(*, quote: Quote, actor: User) -> None:
    """With a quote its approver approves the draft whose days the lines hold."""
    if draft := quote.engagement.estimates.filter(
            version=quote.estimate_version, state=EffortEstimate.State.DRAFT).first():
        approve_estimate(actor=actor, estimate=draft)


@transaction.atomic
def agree_on_estimate(*, actor: User, author: User, engagement: Engagement,
                      lines: list[EffortLine]) -> EffortEstimate:
    """A new approved version with exactly these lines, agreed on with a change request.

    Args:
        actor: who approves for the firm. author: who wrote the change.
    Raises WrongState while a draft is open.
    """
    require(actor, Can.MANAGE, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    require_no_draft(engagement)
    newest = engagement.estimates.first()
    engagement.estimates.filter(state=EffortEstimate.State.APPROVED).update(
        state=EffortEstimate.State.SUPERSEDED)
    made = EffortEstimate.objects.create(
        engagement=engagement, version=newest.version + 1 if newest else 1, created_by=author,
        state=EffortEstimate.State.APPROVED, approved_by=actor, approved_at=timezone.now())
    EffortLine.objects.bulk_create(_placed(made, line, n) for n, line in enumerate(lines))
    audit_log.record(actor=actor, action="estimate.agree", target=made, engagement=engagement)
    return made


def require_no_draft(engagement: Engagement) -> None:
    """Raise WrongState while the newest estimate is a draft: a change starts from agreed days."""
    newest = engagement.estimates.first()
    if newest and newest.state == EffortEstimate.State.DRAFT:
        raise WrongState(_("Version %(version)d of the effort estimate is still a draft: have it "
                           "approved first, so that the change starts from agreed days.")
                         % {"version": newest.version})


def _open_draft(actor: User, estimate: EffortEstimate, seen: int | None) -> EffortEstimate:
    require(actor, Can.WORK, estimate.engagement)
    estimate = lock_checked(estimate, seen)
    _require_draft(estimate)
    return estimate


def _require_draft(estimate: EffortEstimate) -> None:
    if estimate.state != EffortEstimate.State.DRAFT:
        raise WrongState(_("Only a draft can be changed; make a new version instead."))


def _checked_days(low: Decimal, likely: Decimal, high: Decimal) -> tuple[Decimal, ...]:
    if not 0 <= low <= likely <= high:
        raise InvalidInput(_("The days must rise: low ≤ likely ≤ high, none below zero."))
    return low, likely, high
