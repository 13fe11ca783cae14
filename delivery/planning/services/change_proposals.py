"""Writes of change proposals: the customer raises one, the firm answers it."""

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.changes.proposal_transitions import TRANSITIONS, ProposalMove
from delivery.planning.models import ChangeProposal, ChangeRequest
from delivery.planning.services.changes import create_change
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, User
from engagements.moves import complete_move, lock_for_move, make_move


@transaction.atomic
def raise_proposal(*, actor: User, engagement: Engagement, **fields) -> ChangeProposal:
    """A numbered proposal of a person of the customer, open to the firm's answer.

    Args:
        fields: title, category, description, reason; model and wanted_by where they are known.

    Raises InvalidInput for a model of another engagement or a day that has passed.
    """
    require(actor, Can.REVIEW, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    model, wanted_by = fields.get("model"), fields.get("wanted_by")
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))
    if wanted_by and wanted_by < timezone.localdate():
        raise InvalidInput(_("The day has passed already."))
    most = engagement.change_proposals.aggregate(most=Max("number"))["most"] or 0
    proposal = ChangeProposal.objects.create(
        engagement=engagement, number=most + 1, created_by=actor, **fields)
    audit_log.record(actor=actor, action="change_proposal.raise", target=proposal,
                     engagement=engagement)
    return proposal


@transaction.atomic
def convert_proposal(*, actor: User, proposal: ChangeProposal, **fields) -> ChangeRequest:
    """Draft the change request that the proposal asks for.

    Args:
        fields: of the change request (`create_change`); title, category, who requested it, reason
            and text after the change come from the proposal where they are left out.
    """
    proposal = lock_for_move(actor, TRANSITIONS, proposal, ProposalMove.CONVERT)
    change = create_change(actor=actor, engagement=proposal.engagement,
                           **{**change_fields(proposal), **fields})
    proposal.change = change
    proposal.answered_by, proposal.answered_at = actor, timezone.now()
    complete_move(actor, TRANSITIONS, proposal, ProposalMove.CONVERT, {"change": change.code})
    return change


def change_fields(proposal: ChangeProposal) -> dict:
    """What a change request takes from the proposal that it follows."""
    author, customer = proposal.created_by, proposal.engagement.customer
    is_known = proposal.category in ChangeRequest.Category.values
    company = author.localized_organisation or customer.localized_name
    return {"title": proposal.title, "reason": proposal.reason, "after": proposal.description,
            "category": proposal.category if is_known else ChangeRequest.Category.SCOPE,
            "requested_by": f"{company} {author}"[:120]}


def answer_proposal(*, actor: User, proposal: ChangeProposal, answer: str) -> ChangeProposal:
    """Answer a proposal that needs no change; the customer reads the answer."""
    return make_move(actor=actor, table=TRANSITIONS, subject=proposal, move=ProposalMove.ANSWER,
                     reason=answer)


def decline_proposal(*, actor: User, proposal: ChangeProposal, reason: str) -> ChangeProposal:
    """Decline, with a reason that the customer reads."""
    return make_move(actor=actor, table=TRANSITIONS, subject=proposal, move=ProposalMove.DECLINE,
                     reason=reason)


def withdraw_proposal(*, actor: User, proposal: ChangeProposal) -> ChangeProposal:
    """Its author takes an unanswered proposal back."""
    return make_move(actor=actor, table=TRANSITIONS, subject=proposal, move=ProposalMove.WITHDRAW)
