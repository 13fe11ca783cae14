"""What follows from the acceptance certificate in force: acceptance stages, and the engagement's
state."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.acceptance.certificates import Standing, certificate_in_force, standing_of
from delivery.reports.models import Document
from engagements.models import Engagement, StageRecord, User
from engagements.services import follow_decision
from engagements.stages import Stage, StageMove

State = Engagement.State
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
    found = {record: standing_of(certificate, record.model.code)
             for record in _acceptance_stages(engagement)}
    for record, standing in found.items():
        if standing in MOVES:
            follow_decision(actor=actor, record=record, move=MOVES[standing],
                            reason=_("Follows from %(document)s.") % {"document": certificate})
    if engagement.state != State.CLOSED:
        is_accepted = set(found.values()) == {Standing.ACCEPTED}
        engagement.state = State.ACCEPTED if is_accepted else State.ACTIVE
        engagement.save(update_fields=["state"])
    return engagement


def follow_replacement(*, document: Document, by: Document, **_signal) -> None:
    """A certificate that a correction replaced no longer holds; in the transaction that issues the
    correction."""
    if document.kind == Document.Kind.ACCEPTANCE:
        follow_certificate(actor=by.issued_by, engagement=by.engagement)


def _acceptance_stages(engagement: Engagement) -> Iterable[StageRecord]:
    return StageRecord.objects.filter(
        model__engagement=engagement, model__dropped_at=None, stage=Stage.ACCEPT
        ).select_related("model__engagement")
