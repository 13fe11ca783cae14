"""Proof of notice to the customer, and acceptance deemed by silence under the contract."""

from datetime import date, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.models import NoticeProof, Review
from delivery.acceptance.review.transitions import ReviewAction, record_action
from delivery.acceptance.services.blocker_waivers import require_no_blocker
from delivery.acceptance.services.identification import require_criteria_in_force
from delivery.acceptance.services.reviews import lock_for_action
from delivery.acceptance.services.signatures import conclude_review, queue_signed_copies
from delivery.documents.scan_validation import checked_scan
from engagements.errors import InvalidInput, WrongState
from engagements.models import User


@transaction.atomic
def record_notice(*, actor: User, review: Review, channel: str, addressee: str, reference: str,
                  delivered_on: date, file=None) -> NoticeProof:
    """Record proof that the customer was given notice; the receipt itself may go with it."""
    review = lock_for_action(actor, review, ReviewAction.NOTICE)
    if channel not in NoticeProof.Channel.values or not (addressee.strip() and reference.strip()):
        raise InvalidInput(_("Proof of notice needs the delivery method, the addressee and the "
                             "receipt."))
    opened = timezone.localdate(review.opened_at)
    if not opened <= delivered_on <= timezone.localdate():
        raise InvalidInput(_("The delivery date must lie between the opening of the review and "
                             "today; check the date."))
    proof = NoticeProof(
        review=review, channel=channel, addressee=addressee.strip()[:120],
        reference=reference.strip()[:120], delivered_on=delivered_on, recorded_by=actor)
    if file:
        scan = checked_scan(file)
        proof.file, proof.file_name, proof.sha256 = scan.file, scan.name, scan.sha256
    proof.save()
    record_action(actor, review, ReviewAction.NOTICE, {
        "channel": channel, "addressee": proof.addressee, "reference": proof.reference,
        "delivered_on": delivered_on, "sha256": proof.sha256})
    return proof


def deemed_day(review: Review) -> date | None:
    """The last day for an objection: the review period from the first delivered notice.

    None where the contract says nothing of silence, or no notice is proved.
    """
    first = review.notice_proofs.order_by("delivered_on").first()
    if first is None or not review.terms.get("is_deemed"):
        return None
    return first.delivered_on + timedelta(days=review.terms["review_days"])


def record_deemed_acceptance(*, actor: User, review: Review) -> Review:
    """Record that the contract takes the customer's silence for acceptance.

    Never set by itself: a project manager does it, after the deadline, with proof of notice, and
    only if the contract named its clause before the review was opened. The customer is notified.
    """
    review = _store_deemed_decision(actor, review)
    queue_signed_copies(review)
    return review


@transaction.atomic
def _store_deemed_decision(actor: User, review: Review) -> Review:
    review = lock_for_action(actor, review, ReviewAction.DEEMED)
    _require_silence(review)
    review.decision, review.decided_by = Review.Decision.DEEMED, actor
    review.decided_at = timezone.now()
    review.reason = review.terms["clause"]
    require_no_blocker(review)
    require_criteria_in_force(review)
    review.save()
    conclude_review(review, actor)
    record_action(actor, review, ReviewAction.DEEMED, {
        "decision": review.decision, "clause": review.reason, "deadline": deemed_day(review),
        "proofs": [proof.reference for proof in review.notice_proofs.all()]})
    return review


def _require_silence(review: Review) -> None:
    if not review.terms.get("is_deemed"):
        raise WrongState(_("The contract recorded for this review does not provide for deemed "
                           "acceptance."))
    if review.signers.filter(state="declined").exists():
        raise WrongState(_("The customer has responded; deemed acceptance does not apply."))
    if review.comments.filter(
            Q(answers=None, resolved_at=None) | Q(answers__isnull=False, answers__resolved_at=None),
            author__role="reviewer").exists():
        raise WrongState(_("The customer has commented; silence counts once the customer has "
                           "resolved the comments."))
    last = deemed_day(review)
    if last is None:
        raise WrongState(_("Record proof of notice first."))
    if timezone.localdate() <= last:
        raise WrongState(_("The customer has until %(day)s to respond.") % {
            "day": last.isoformat()})
