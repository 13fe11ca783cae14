"""Who signs a document, in which order, and signing it; the last signature concludes the review."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.certificates import follow_certificate
from delivery.acceptance.models import Identification, Review, Signature, Signer
from delivery.acceptance.review.transitions import (
    TRANSITIONS,
    ReviewAction,
    current_signer,
    record_action,
)
from delivery.acceptance.services.identification import (
    check_code,
    require_signable,
    statement_hash,
    statement_of,
)
from delivery.acceptance.services.reviews import lock_for_action
from delivery.acceptance.signing.drawn_signature import checked_drawing
from delivery.documents.scan_validation import Scan, checked_scan
from delivery.reports.facts.snapshot import content_hash
from delivery.reports.models import Document
from delivery.reports.services.supersession import supersede_older
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from engagements.moves import require_permission
from engagements.queue import enqueue_on_commit

TYPED, DRAWN, SCANNED = Signature.Mark.values
WAITING, SIGNED, DECLINED = Signer.State.values


def sign(*, actor: User, review: Review, code: str = "", passkey: dict | None = None,
         mark: str = TYPED, strokes=None, scan=None, ip_address: str | None = None,
         user_agent: str = "") -> Signature:
    """Sign the decided document; each signer once, in turn, with the code sent by e-mail.

    Args:
        code: the one-time code of `begin_signing`, which also holds name and capacity.
        passkey: in its place the answer to `identification.passkey_request`.
        mark: typed, drawn or scan.
        strokes: of a drawn signature: lines of points [x, y] within 1000 by 300.
        scan: of the signed and sealed paper: a file (PDF, PNG or JPEG).

    With the last signature the document becomes signed; acceptance stages and the engagement's
    state follow from a final acceptance (see `follow_certificate`), a preliminary one begins the
    trial period; the version signed before it is superseded. A worker then stores sealed copies
    with a signature page beside the issued files.
    """
    require_permission(actor, TRANSITIONS, review, ReviewAction.SIGN)
    facts = _mark_columns(mark, strokes, scan)
    with transaction.atomic():
        require_signable(actor, Review.objects.locked(review))
    identification = check_code(actor=actor, review=review, code=code, passkey=passkey,
                                ip_address=ip_address)
    signature = _store_signature(actor, review, identification, facts, ip_address, user_agent)
    queue_signed_copies(review)
    return signature


def _mark_columns(mark: str, strokes, scan) -> dict:
    """The form of the signature as columns; anything doubtful is refused."""
    if mark not in Signature.Mark.values:
        raise InvalidInput(_("Choose how you sign: typed, drawn, or by a scan."))
    found: Scan | None = checked_scan(scan) if mark == SCANNED else None
    if found is None:
        return {"mark": mark, "strokes": checked_drawing(strokes) if mark == DRAWN else []}
    return {"mark": mark, "scan_name": found.name, "scan_size": len(found.content),
            "scan_sha256": found.sha256,
            "scan": found.file}


@transaction.atomic
def _store_signature(actor, review, identification: Identification, facts, ip_address, user_agent
                     ) -> Signature:
    review = Review.objects.locked(review)
    power = require_signable(actor, review)
    document, now = review.document, timezone.now()
    if content_hash(document.snapshot) != document.content_hash:
        raise WrongState(_("The stored document no longer matches its content hash."))
    if statement_hash(statement_of(review)) != identification.statement_hash:
        raise WrongState(_("What is signed has changed since the code was sent: read it again and "
                           "request a new code."))
    if not Identification.objects.filter(pk=identification.pk, used_at=None).update(
            used_at=now, proof=identification.proof):
        raise WrongState(_("No valid code; request a new one."))
    signature = Signature.objects.create(
        review=review, signer=actor, identification=identification, name=identification.name,
        capacity=identification.capacity, power=power, signed_hash=document.content_hash,
        file_hashes=dict(document.files.filter(format="pdf").values_list("language", "sha256")),
        ip_address=ip_address or None, user_agent=user_agent[:240], **facts)
    is_last = mark_signed(review, actor)
    if is_last:
        conclude_review(review, actor)
    record_action(actor, review, ReviewAction.SIGN, {
        "hash": document.content_hash, "files": signature.file_hashes, "name": signature.name,
        "capacity": signature.capacity, "decision": review.decision, "mark": signature.mark,
        "scan": signature.scan_sha256, "terms": identification.terms_hash,
        "statement": identification.statement_hash, "ip": ip_address or "",
        "power": power.sha256 if power else ""})
    if not is_last:
        notify_next_signer(review)
    return signature


def queue_signed_copies(review: Review) -> None:
    """Enqueue the task that makes the copies, after the transaction commits.

    If the message is lost, `signed_copies.complete_signed_copies` finds what is missing.
    """
    enqueue_on_commit("acceptance.store_copies", review.pk, expires=600)


def conclude_review(review: Review, actor: User) -> None:
    """Conclude a review that waits for no further signer. Call it inside the transaction."""
    document = review.document
    if review.decision != Review.Decision.DEEMED:
        document.state = Document.State.SIGNED
        document.save(update_fields=["state"])
    supersede_older(actor=actor, document=document)
    if review.phase == Review.Phase.FINAL:
        follow_certificate(actor=actor, engagement=document.engagement)
    elif review.decision in Review.PASSING and review.trial_ends_on is None:
        days = review.terms.get("trial_days") or 0
        review.trial_ends_on = timezone.localdate() + timedelta(days=days)
        review.save(update_fields=["trial_ends_on"])


@transaction.atomic
def name_signers(*, actor: User, review: Review, users: list[User],
                 capacities: list[str] | None = None) -> list[Signer]:
    """Set who signs, in this order; an empty list lets any reviewer sign alone.

    Who has signed stays; the others are named anew, also after somebody declined.

    Args:
        capacities: in which each of them signs, in the same order; "" or none: as the account says.
    """
    review = lock_for_action(actor, review, ReviewAction.SIGNERS)
    _require_reviewers(review, users)
    review.signers.exclude(state=SIGNED).delete()
    done = review.signers.count()
    said = [text.strip()[:80] for text in capacities or []]
    said += [""] * (len(users) - len(said))
    rows = [Signer.objects.create(review=review, user=user, position=n, capacity=capacity)
            for n, (user, capacity) in enumerate(zip(users, said, strict=False), done + 1)]
    record_action(actor, review, ReviewAction.SIGNERS, {
        "signers": [user.username for user in users], "capacities": said[:len(users)]})
    notify_next_signer(review)
    return rows


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


@transaction.atomic
def delegate(*, actor: User, review: Review, user: User, reason: str) -> Signer:
    """Hand the own turn to sign over to a colleague, with a reason; the colleague is told.

    Where no order is set, the colleague becomes the one signer. Capacity and power of attorney do
    not go over.
    """
    review = lock_for_action(actor, review, ReviewAction.DELEGATE)
    if not reason.strip():
        raise InvalidInput(_("Give the reason for handing it over."))
    _require_reviewers(review, [user])
    if user == actor or review.signers.filter(user=user).exists():
        raise InvalidInput(_("%(person)s is to sign anyway.") % {"person": user})
    row = current_signer(actor, review) or Signer(
        review=review, position=review.signers.count() + 1)
    row.user, row.capacity = user, ""
    row.save()
    record_action(actor, review, ReviewAction.DELEGATE, {
        "to": user.username, "reason": reason.strip()[:400]})
    notify_next_signer(review)
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
