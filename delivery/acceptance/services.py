"""Writes of this app: the customer's review, decision and signature; evidence bundles."""

from datetime import date

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.bundle import write_bundle
from delivery.acceptance.models import (
    Condition,
    EvidenceBundle,
    Review,
    ReviewComment,
    Signature,
)
from delivery.acceptance.signing import signed_facts
from delivery.reports.bilingual import LANGUAGES
from delivery.reports.models import Document
from delivery.reports.rendering import render_document
from delivery.reports.services import store_pdf
from delivery.reports.snapshot import content_hash
from engagements import audit
from engagements.access import Can, require
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, MigratedModel, User

PASSING = (Review.Decision.ACCEPTED, Review.Decision.CONDITIONAL)


@transaction.atomic
def open_review(*, actor: User, document: Document) -> Review:
    """Put an issued acceptance document before the customer. Safe to repeat."""
    require(actor, Can.ISSUE, document.engagement)
    document = Document.objects.select_for_update(of=("self",)).get(pk=document.pk)
    if document.kind != Document.Kind.ACCEPTANCE:
        raise WrongState(_("Only an acceptance document is reviewed and signed."))
    if document.state not in (Document.State.ISSUED, Document.State.SIGNED):
        raise WrongState(_("Only an issued document is reviewed."))
    review, made = Review.objects.get_or_create(document=document)
    if made:
        audit.record(actor=actor, action="review.open", target=document,
                     engagement=document.engagement)
    return review


@transaction.atomic
def comment(*, actor: User, review: Review, text: str, model: MigratedModel | None = None
            ) -> ReviewComment:
    """A remark of the customer or of the team; possible until the document is signed."""
    engagement = review.document.engagement
    require(actor, Can.REVIEW if actor.is_reviewer else Can.WORK, engagement)
    _require_issued(review)
    if not text.strip():
        raise InvalidInput(_("Write the comment first."))
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))
    made = ReviewComment.objects.create(review=review, author=actor, text=text.strip(),
                                        model=model)
    audit.record(actor=actor, action="review.comment", target=review.document,
                 engagement=engagement)
    return made


@transaction.atomic
def decide(*, actor: User, review: Review, decision: str, reason: str = "",
           conditions: list[dict] | None = None) -> Review:
    """The customer's decision, once.

    Args:
        decision: accepted, conditional or rejected.
        reason: needed for a rejection.
        conditions: rows of description, owner, due_on; at least one for a conditional decision,
            none for the others.
    """
    _require_reviewer(actor, review)
    review = Review.objects.select_for_update(of=("self",)).select_related(
        "document__engagement").get(pk=review.pk)
    _require_issued(review)
    if review.decision:
        raise WrongState(_("The decision was made already; it is made once."))
    rows = [_condition(row) for row in conditions or []]
    _require_reasons(decision, reason, rows)
    review.decision, review.reason = decision, reason.strip()
    review.decided_by, review.decided_at = actor, timezone.now()
    review.save()
    for row in rows:
        Condition.objects.create(review=review, **row)
    audit.record(actor=actor, action="review.decide", target=review.document,
                 engagement=review.document.engagement,
                 data={"decision": decision, "reason": review.reason, "conditions": rows})
    return review


def _require_reasons(decision: str, reason: str, rows: list[dict]) -> None:
    if decision not in Review.Decision.values:
        raise InvalidInput(_("Choose a decision."))
    if decision == Review.Decision.REJECTED and not reason.strip():
        raise InvalidInput(_("Give the reason for the rejection."))
    if decision == Review.Decision.CONDITIONAL and not rows:
        raise InvalidInput(
            _("Name at least one outstanding issue with its owner and due date."))
    if decision != Review.Decision.CONDITIONAL and rows:
        raise InvalidInput(_("Conditions go with a conditional acceptance only."))


def _condition(row: dict) -> dict:
    description, owner = (str(row.get(key) or "").strip() for key in ("description", "owner"))
    due = row.get("due_on")
    try:
        due = due if isinstance(due, date) else date.fromisoformat(str(due or ""))
    except ValueError:
        due = None
    if not (description and owner and due):
        raise InvalidInput(_("An outstanding issue needs a description, an owner and a due date."))
    return {"description": description[:400], "owner": owner[:80], "due_on": due}


@transaction.atomic
def sign(*, actor: User, review: Review, name: str, capacity: str,
         ip_address: str | None = None) -> Signature:
    """Sign the content hash of the decided document; each reviewer once.

    The document becomes signed, copies with a signature page are stored beside the issued files,
    and an acceptance, also a conditional one, makes the engagement accepted.
    """
    _require_reviewer(actor, review)
    review = Review.objects.select_for_update(of=("self",)).select_related(
        "document__engagement").get(pk=review.pk)
    document = review.document
    _require_signable(actor, review, name, capacity)
    signature = Signature.objects.create(
        review=review, signer=actor, name=name.strip()[:80], capacity=capacity.strip()[:80],
        signed_hash=document.content_hash, ip_address=ip_address or None)
    document.state = Document.State.SIGNED
    document.save(update_fields=["state"])
    _store_signed_copies(review)
    if review.decision in PASSING:
        Engagement.objects.filter(pk=document.engagement_id, state=Engagement.State.ACTIVE
                                  ).update(state=Engagement.State.ACCEPTED)
    audit.record(actor=actor, action="document.sign", target=document,
                 engagement=document.engagement,
                 data={"hash": document.content_hash, "name": signature.name,
                       "capacity": signature.capacity, "decision": review.decision})
    return signature


def _require_signable(actor: User, review: Review, name: str, capacity: str) -> None:
    document = review.document
    if not review.decision:
        raise WrongState(_("Decide first, then sign."))
    if document.state not in (Document.State.ISSUED, Document.State.SIGNED):
        raise WrongState(_("This version was replaced; sign the newest one."))
    if review.signatures.filter(signer=actor).exists():
        raise WrongState(_("You have signed this document already."))
    if not (name.strip() and capacity.strip()):
        raise InvalidInput(_("Type your name and the capacity in which you sign."))
    if content_hash(document.snapshot) != document.content_hash:
        raise WrongState(_("The stored document no longer has its content hash."))


def _store_signed_copies(review: Review) -> None:
    count = review.signatures.count()
    for language in LANGUAGES:
        content = render_document(review.document.snapshot, language, signed_facts(review))
        store_pdf(review.document, language, content,
                  "signed" if count == 1 else f"signed{count}")


def _require_reviewer(actor: User, review: Review) -> None:
    """Only reviewers who are members of the engagement decide and sign (AR-11)."""
    engagement = review.document.engagement
    require(actor, Can.REVIEW, engagement)
    if not engagement.memberships.filter(user=actor).exists():
        raise NotAllowed(_("You are not a member of this engagement."))


def _require_issued(review: Review) -> None:
    if review.document.state != Document.State.ISSUED:
        raise WrongState(_("This document is signed or was replaced; nothing is added to it."))


def build_bundle(*, actor: User, engagement: Engagement, document: Document | None = None
                 ) -> EvidenceBundle:
    """Store the evidence zip of an issued document (the newest one by default).

    Raises InvalidInput naming a raw file that is missing or changed.
    """
    require(actor, Can.REVIEW if actor.is_reviewer else Can.WORK, engagement)
    document = document or engagement.documents.exclude(state=Document.State.DRAFT).first()
    if document is None or not document.is_frozen:
        raise WrongState(_("Issue a document first; a bundle belongs to one."))
    if document.engagement_id != engagement.pk:
        raise InvalidInput(_("The document belongs to another engagement."))
    with transaction.atomic():
        bundle = write_bundle(document)
        audit.record(actor=actor, action="bundle.build", target=document,
                     engagement=engagement, data={"sha256": bundle.sha256})
    return bundle
