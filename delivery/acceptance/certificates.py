"""What the acceptance certificate in force says of a model: the source of its acceptance stage and
of the engagement's state."""

from enum import StrEnum

from django.db.models import Q

from delivery.acceptance.models import Condition, Review
from delivery.reports.models import Document
from engagements.models import Engagement


class Standing(StrEnum):
    """`ABSENT`: no certificate, or one that does not cover the model; `CONDITIONAL`: a condition
    is open still."""

    ABSENT = "absent"
    WAITING = "waiting"
    REJECTED = "rejected"
    CONDITIONAL = "conditional"
    ACCEPTED = "accepted"


def certificate_in_force(engagement: Engagement) -> Document | None:
    """The newest final acceptance document that is neither replaced nor withdrawn."""
    return engagement.documents.filter(kind=Document.Kind.ACCEPTANCE).in_force().select_related(
        "review").first()


def standing_of(certificate: Document | None, code: str) -> Standing:
    """What the certificate says of the model with this code, once it is concluded."""
    if certificate is None or code not in {
            model["code"] for model in certificate.snapshot.get("models", [])}:
        return Standing.ABSENT
    review = getattr(certificate, "review", None)
    if not _is_concluded(certificate, review):
        return Standing.WAITING
    if _rejects(review, code):
        return Standing.REJECTED
    return Standing.CONDITIONAL if open_conditions(review, code) else Standing.ACCEPTED


def open_conditions(review: Review, code: str) -> list[Condition]:
    """Conditions about the model, or about the whole document, that the customer has not closed."""
    return list(review.conditions.filter(Q(model__code=code) | Q(model=None), closed_at=None))


def _is_concluded(certificate: Document, review: Review | None) -> bool:
    return review is not None and (certificate.state == Document.State.SIGNED
                                   or review.decision == Review.Decision.DEEMED)


def _rejects(review: Review, code: str) -> bool:
    rejected = Review.Decision.REJECTED
    return review.decision == rejected or review.model_decisions.filter(
        model__code=code, decision=rejected).exists()
