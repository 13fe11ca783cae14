"""Writes of change requests (DOMAIN 9.10, 9.11, AR-16)."""

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from bundle_verifier.canonical import SPACED, content_hash
from delivery.planning.changes.change_facts import change_facts
from delivery.planning.changes.effort_effects import days_between
from delivery.planning.changes.transitions import TRANSITIONS, ChangeMove, side_of
from delivery.planning.effort.usage import agreed_quote
from delivery.planning.models import ChangeRequest
from delivery.planning.services.change_application import (
    apply_effects,
    require_current,
    require_unchanged,
)
from delivery.planning.services.change_drafts import change_draft
from delivery.planning.services.files import enqueue_files
from delivery.planning.signals import change_applied
from delivery.quotes.models import Quote
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, User
from engagements.moves import complete_move, lock_for_move, make_move
from engagements.optimistic_locking import assign, save_changes


@transaction.atomic
def create_change(*, actor: User, engagement: Engagement, **fields) -> ChangeRequest:
    """A numbered draft of a change request."""
    require(actor, Can.WORK, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    _check_quote(engagement, fields.get("quote"))
    most = engagement.change_requests.aggregate(most=Max("number"))["most"] or 0
    change = ChangeRequest.objects.create(
        engagement=engagement, number=most + 1, created_by=actor, **fields)
    audit_log.record(actor=actor, action="change.create", target=change, engagement=engagement)
    return change


@transaction.atomic
def update_change(*, actor: User, change: ChangeRequest, seen: int | None = None, **fields
                  ) -> ChangeRequest:
    """Change a draft. Raises EditConflict when it moved on since version `seen`."""
    change = change_draft(actor, change, seen)
    _check_quote(change.engagement, fields.get("quote"))
    if "quote" in fields and fields["quote"] != change.quote:
        change.price_effects.all().delete()  # they speak of lines of the quote before
    changed = assign(change, fields)
    save_changes(change, actor=actor, action="change.update", engagement=change.engagement,
                 changed=changed)
    return change


def _check_quote(engagement: Engagement, quote: Quote | None) -> None:
    if quote and quote.engagement_id != engagement.pk:
        raise InvalidInput(_("The quote belongs to another engagement."))


@transaction.atomic
def submit_change(*, actor: User, change: ChangeRequest) -> ChangeRequest:
    """Put the change to both sides and freeze what they sign: words and effects with their hash.

    Effects on scope, schedule, price and criteria are said by the facts where nobody did.

    Raises InvalidInput unless the effect on quality is stated, “none” included, a chosen quote
    has lines that change, and a change of person-days names the quote in force; ChecksFailed for
    a quote that could not come into force.
    """
    change = lock_for_move(actor, TRANSITIONS, change, ChangeMove.SUBMIT)
    if not change.effect_on_quality.strip():
        raise InvalidInput(_("State the effect on quality, also where there is none."))
    if change.quote and not change.price_effects.exists():
        raise InvalidInput(_("Specify which lines of %(quote)s change, or leave the quote out.")
                           % {"quote": change.quote})
    _require_priced(change)
    require_current(change)
    change.facts, change.submitted_at = change_facts(change), timezone.now()
    change.content_hash = content_hash(change.facts, SPACED)
    return _complete(change, actor, ChangeMove.SUBMIT, {"hash": change.content_hash})


def _require_priced(change: ChangeRequest) -> None:
    """Other person-days do not come in without a word on what was agreed to pay."""
    if change.quote is None and change.scope_effects.exists() and days_between(change):
        quote = agreed_quote(change.engagement)
        if quote:
            raise InvalidInput(_("The scope changes and %(quote)s is in "
                                 "force: choose it as the quote to be "
                                 "revised.") % {"quote": quote})


@transaction.atomic
def approve_change(*, actor: User, change: ChangeRequest) -> ChangeRequest:
    """Approve for the side the actor stands on; the second approval puts the change in force.

    All effects are applied together, or none and the approval is not kept either.

    Raises:
        NotAllowed: neither manager nor customer reviewer, or the writer of the request.
        WrongState: not submitted, approved already, or something has changed since.
    """
    change = lock_for_move(actor, TRANSITIONS, change, ChangeMove.APPROVE)
    side = side_of(actor)
    require_unchanged(change)
    setattr(change, f"{side}_approved_by", actor)
    setattr(change, f"{side}_approved_at", timezone.now())
    change.save()
    audit_log.record(actor=actor, action=f"change.approve_{side}", target=change,
                     engagement=change.engagement)
    if change.firm_approved_at and change.customer_approved_at:
        _apply(change)
    else:
        enqueue_files(change)
    return change


def _apply(change: ChangeRequest) -> None:
    apply_effects(change)
    change.applied_at = timezone.now()
    _complete(change, change.firm_approved_by, ChangeMove.APPROVE, {
        "estimate": change.new_estimate and str(change.new_estimate),
        "criteria": change.new_criteria and str(change.new_criteria),
        "quote": change.new_quote and str(change.new_quote),
        "baseline": change.new_baseline and str(change.new_baseline)})
    change_applied.send(ChangeRequest, change=change)


def _complete(change: ChangeRequest, actor: User, move: str, data: dict) -> ChangeRequest:
    complete_move(actor, TRANSITIONS, change, move, data)
    enqueue_files(change)
    return change


@transaction.atomic
def move_change(*, actor: User, change: ChangeRequest, move: str, reason: str = ""
                ) -> ChangeRequest:
    """Make a move whose effect stands in the table."""
    change = make_move(actor=actor, table=TRANSITIONS, subject=change, move=move, reason=reason)
    enqueue_files(change)
    return change


def record_result(*, actor: User, change: ChangeRequest, result: str) -> ChangeRequest:
    """Say how a change in force was carried out and what came of it; the last word stands.

    Raises WrongState before it is in force, InvalidInput without a word.
    """
    return move_change(actor=actor, change=change, move=ChangeMove.RESULT, reason=result)


def reject_change(*, actor: User, change: ChangeRequest, reason: str) -> ChangeRequest:
    """Either side rejects, with a reason."""
    return move_change(actor=actor, change=change, move=ChangeMove.REJECT, reason=reason)


def withdraw_change(*, actor: User, change: ChangeRequest) -> ChangeRequest:
    """Its author takes a submitted change back; it is a draft again, without any approval."""
    return move_change(actor=actor, change=change, move=ChangeMove.WITHDRAW)
