"""Who signs, in which order, and who declines."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.models import Review, Signer
from delivery.acceptance.review.transitions import ReviewAction, current_signer, record_action
from delivery.acceptance.services.preconditions import lock_for_action
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User

WAITING, SIGNED, DECLINED = Signer.State.values


@transaction.atomic
def name_signers(*, actor: User, review: Review, users: list[User]) -> list[Signer]:
    """Set who signs, in this order; an empty list lets any reviewer sign alone.

    Who has signed stays; the others are named anew, also after somebody declined.
    """
    review = lock_for_action(actor, review, ReviewAction.SIGNERS)
    _require_reviewers(review, users)
    review.signers.exclude(state=SIGNED).delete()
    done = review.signers.count()
    rows = [Signer.objects.create(review=review, user=user, position=n)
            for n, user in enumerate(users, done + 1)]
    record_action(actor, review, ReviewAction.SIGNERS, {
        "signers": [user.username for user in users]})
    notify_next_signer(review)
    return rows


def carry_over_signers(review: Review) -> list[User]:
    """The signers of the version before sign the new one too, in that order and all anew.

    That is the newest version of the document that was reviewed; of a document drafted anew, the
    newest of its kind. Call it for a new review, before its audit entry.
    """
    document = review.document
    earlier = Review.objects.filter(document__engagement=document.engagement,
                                    document__kind=document.kind).exclude(pk=review.pk)
    versions = earlier.filter(document__number=document.number)
    before = versions.order_by("pk").last() or earlier.order_by("pk").last()
    rows = before.signers.select_related("user") if before else []
    return [Signer.objects.create(review=review, user=row.user, position=n).user
            for n, row in enumerate(rows, 1)]


def _require_reviewers(review: Review, users: list[User]) -> None:
    if len({user.pk for user in users}) < len(users):
        raise InvalidInput(_("Name each signer once."))
    if review.signatures.exists() and not users:
        raise InvalidInput(_("Someone has already signed; name at least one more signer."))
    if review.signatures.filter(signer__in=users).exists():
        raise InvalidInput(_("People who have signed are not asked again."))
    members = set(review.document.engagement.memberships.values_list("user", flat=True))
    wrong = [user for user in users if user.pk not in members or not user.is_reviewer]
    if wrong:
        raise InvalidInput(_("%(person)s is not a customer reviewer of this engagement.")
                           % {"person": wrong[0]})


@transaction.atomic
def decline(*, actor: User, review: Review, reason: str) -> Signer:
    """Refuse to sign, with a reason. Nobody signs until the project manager acts."""
    review = lock_for_action(actor, review, ReviewAction.DECLINE)
    if not reason.strip():
        raise InvalidInput(_("Give the reason for declining."))
    row = current_signer(actor, review) or Signer(
        review=review, user=actor, position=review.signers.count() + 1)
    row.state, row.reason, row.answered_at = DECLINED, reason.strip()[:400], timezone.now()
    row.save()
    record_action(actor, review, ReviewAction.DECLINE, {"reason": row.reason})
    return row


def mark_signed(review: Review, actor: User) -> bool:
    """Note that the actor signed; True once nobody else is waited for."""
    review.signers.filter(user=actor).update(state=SIGNED, answered_at=timezone.now())
    return not review.signers.filter(state=WAITING).exists()


def notify_next_signer(review: Review) -> None:
    """Tell the signer whose turn it is, once there is a decision to sign."""
    current = review.signers.filter(state=WAITING).first()
    if current and review.decision and not review.signers.filter(state=DECLINED).exists():
        audit_log.record(actor=None, action="signer.turn", target=current,
                         engagement=review.document.engagement)
