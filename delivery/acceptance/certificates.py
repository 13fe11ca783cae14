"""What the acceptance certificate in force says of a model, and what follows from it: acceptance
stages, and the engagement's state."""

from calendar import monthrange
from datetime import date, timedelta
from enum import StrEnum

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.models import Condition, Review
from delivery.reports.models import Document
from engagements.audit import audit_log
from engagements.models import Engagement, MigratedModel, StageRecord, User
from engagements.services import follow_decision
from engagements.stages import Stage, StageMove

State = Engagement.State


class Standing(StrEnum):
    """`ABSENT`: no certificate, or one that does not cover the model; `CONDITIONAL`: a condition
    is open still."""

    ABSENT = "absent"
    WAITING = "waiting"
    REJECTED = "rejected"
    CONDITIONAL = "conditional"
    ACCEPTED = "accepted"


# Of what the certificate says: the move of the acceptance stage that follows from it.
MOVES = {
    Standing.ACCEPTED: StageMove.PASS,
    Standing.CONDITIONAL: StageMove.SUBMIT,
    Standing.WAITING: StageMove.SUBMIT,
    Standing.REJECTED: StageMove.SEND_BACK,
}


@transaction.atomic
def follow_certificate(*, actor: User, engagement: Engagement) -> Engagement:
    """Bring acceptance stages and the engagement's state to what the certificate in force says.

    The engagement is accepted while the certificate accepts each of its models and no condition
    is open (DOMAIN 9.9, AR-15); a certificate that is corrected or rejected later takes that back.
    Call it inside the transaction of the write, before its audit entry.
    """
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    certificate = certificate_in_force(engagement)
    stages = StageRecord.objects.filter(
        model__engagement=engagement, model__dropped_at=None, stage=Stage.ACCEPT
    ).select_related("model__engagement")
    found = {record: standing_of(certificate, record.model.code) for record in stages}
    for record, standing in found.items():
        if standing in MOVES:
            follow_decision(actor=actor, record=record, move=MOVES[standing],
                            reason=_("Follows from %(document)s.") % {"document": certificate})
    stands = State.ACCEPTED if set(found.values()) == {Standing.ACCEPTED} else State.ACTIVE
    if not engagement.has_ended and engagement.state != stands:
        engagement.state = stands
        engagement.save(update_fields=["state"])
    return engagement


def follow_replacement(*, document: Document, by: Document, **_signal) -> None:
    """A certificate that a newer version replaced no longer holds; in the transaction that issued
    or concluded that version."""
    if document.kind == Document.Kind.ACCEPTANCE:
        follow_certificate(actor=by.issued_by, engagement=by.engagement)


def follow_scope(*, model: MigratedModel, actor: User, **_signal) -> None:
    """An engagement is accepted for the models that it has: one that comes in was not accepted, and
    one that goes is waited for no more."""
    if certificate_in_force(model.engagement):
        follow_certificate(actor=actor, engagement=model.engagement)


def follow_reopening(*, engagement: Engagement, actor: User, **_signal) -> None:
    """An engagement that goes on is accepted again where its certificate says so."""
    if follow_certificate(actor=actor, engagement=engagement).state == State.ACCEPTED:
        audit_log.record(actor=actor, action="engagement.accepted", target=engagement,
                         engagement=engagement)


def certificate_in_force(engagement: Engagement) -> Document | None:
    """The final acceptance document that holds: of those neither replaced nor withdrawn the newest
    that the customer has concluded, or else the newest."""
    found = list(engagement.documents.filter(kind=Document.Kind.ACCEPTANCE).in_force(
        ).select_related("review"))
    return next((row for row in found if row.is_concluded), found[0] if found else None)


def standing_of(certificate: Document | None, code: str) -> Standing:
    """What the certificate says of the model with this code, once it is concluded."""
    if certificate is None or code not in {
            model["code"] for model in certificate.snapshot.get("models", [])}:
        return Standing.ABSENT
    review = getattr(certificate, "review", None)
    if not certificate.is_concluded:
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
    if (not months or review.phase != Review.Phase.FINAL or not review.document.is_concluded
            or decided in ("", Review.Decision.REJECTED)):
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
