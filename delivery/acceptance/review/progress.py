"""Steps of a review with their state, for the progress bar of its page."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.acceptance.models import Review
from delivery.acceptance.review.deliverables import Deliverable
from delivery.reports.models import Document


@dataclass(frozen=True)
class ReviewStep:
    """One thing that the customer has to do, and where on the page."""

    title: str
    state: str
    is_done: bool
    anchor: str
    is_bad: bool = False


def review_steps(review: Review, deliverables: list[Deliverable],
                 open_comments: int) -> list[ReviewStep]:
    """Receipt, comments, decision and signature, in the order in which they are asked for."""
    received = sum(item.is_received for item in deliverables)
    is_signed = review.document.state == Document.State.SIGNED
    signatures, is_rejected = review.signatures.count(), review.decision == Review.Decision.REJECTED
    signed = ngettext("%(n)d signed", "%(n)d signed", signatures) % {"n": signatures}
    return [
        ReviewStep(_("Deliverables"), _("%(n)d of %(total)d received") % {
            "n": received, "total": len(deliverables)}, received == len(deliverables),
                   "#deliverables"),
        ReviewStep(_("Comments"), ngettext("%(n)d open", "%(n)d open", open_comments) % {
            "n": open_comments}, open_comments == 0, "#comments"),
        ReviewStep(_("Decision"), review.get_decision_display() or _("not made yet"),
                   bool(review.decision), "#decision", is_rejected),
        ReviewStep(_("Signature"), review.document.state_outcome[1] if is_signed else signed,
                   is_signed, "#signatures", is_signed and is_rejected),
    ]
