"""What the acceptance certificate in force says of a model: the source of its acceptance stage and
of the engagement's state."""

from calendar import monthrange
from datetime import date, timedelta
from enum import StrEnum

from django.db.models import Q
from django.utils import timezone

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
    own = review.model_decisions.filter(model__code=code).first()
    if (own or review).decision == Review.Decision.REJECTED:  # its own goes before the whole
        return Standing.REJECTED
    return Standing.CONDITIONAL if open_conditions(review, code) else Standing.ACCEPTED


def warranty_period(review: Review) -> tuple[date, date] | None:
    """First and last day of the warranty that a concluded, passing final acceptance begins.

    None before that, and where the terms that the review keeps name no warranty.
    """
    months, decided = review.terms.get("warranty_months"), review.decision
    if (not months or review.phase != Review.Phase.FINAL or not _is_concluded(
            review.document, review) or decided in ("", Review.Decision.REJECTED)):
        return None
    last = review.signatures.order_by("-at").first()
    begins = timezone.localdate(last.at if last else review.decided_at)
    return begins, after_months(begins, months) - timedelta(days=1)


def after_months(day: date, months: int) -> date:
    """The same day of a later month; its last day where that month is shorter."""
    years, month = divmod(day.month - 1 + months, 12)
    year = day.year + years
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def open_conditions(review: Review, code: str) -> list[Condition]:
    """Conditions about the model, or about the whole document, that the customer has not closed."""
    return list(review.conditions.filter(Q(model__code=code) | Q(model=None), closed_at=None))


def _is_concluded(certificate: Document, review: Review | None) -> bool:
    return review is not None and (certificate.state == Document.State.SIGNED
                                   or review.decision == Review.Decision.DEEMED)
