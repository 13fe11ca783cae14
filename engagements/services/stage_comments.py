"""What people of the firm note on stages."""

from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import InvalidInput
from engagements.models import StageComment, StageRecord, User


@retried
@transaction.atomic
def comment_on_stage(*, actor: User, record: StageRecord, text: str) -> StageComment:
    """Add a comment to the stage's history; one audit entry.

    Raises NotAllowed; InvalidInput for an empty text or one of more than 2,000 characters.
    """
    record = StageRecord.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement").get(pk=record.pk)
    require(actor, Can.WORK, record.engagement)
    text = text.strip()
    if not text or len(text) > StageComment._meta.get_field("text").max_length:
        raise InvalidInput(_("A comment has 1 to 2,000 characters."))
    comment = StageComment.objects.create(record=record, author=actor, agent=actor.agent,
                                          at=timezone.now(), text=text)
    audit_log.record(actor=actor, action="stage.comment", target=record,
                     engagement=record.engagement, data={"comment": text})
    return comment


@retried
@transaction.atomic
def comment_on_stages(*, actor: User, records: Iterable[StageRecord], text: str
                      ) -> list[StageComment]:
    """The same comment on each of the stages; raises as `comment_on_stage`, nothing is written
    then."""
    return [comment_on_stage(actor=actor, record=record, text=text)
            for record in sorted(records, key=lambda record: record.pk)]
