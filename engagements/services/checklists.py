"""Writes about checklists."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import InvalidInput, WrongState
from engagements.evidence_references import resolve
from engagements.models import ChecklistItem, User
from engagements.stages import StageState


@retried
@transaction.atomic
def tick_item(*, actor: User, item: ChecklistItem, is_done: bool = True, evidence: str = "",
              seen_done_at: datetime | None = None) -> ChecklistItem:
    """Confirm a checklist item with its evidence, or take the confirmation back.

    Args:
        evidence: a stored file as `#12`, an address or a place in words; "" keeps what is there.
        seen_done_at: when the confirmation was given that is taken back, if only that one is meant.
    Raises:
        WrongState: the stage is not in progress, or the confirmation is another one by now.
        InvalidInput: the item needs evidence and has none, or the evidence does not exist.
    """
    item = ChecklistItem.objects.select_for_update(of=("self",), no_key=True).select_related(
        "record__model__engagement").get(pk=item.pk)
    engagement = item.record.engagement
    require(actor, Can.WORK, engagement)
    if item.record.state not in (StageState.IN_PROGRESS, StageState.SUBMITTED):
        raise WrongState(_("The checklist can be changed only while the stage is in progress."))
    if seen_done_at and item.done_at != seen_done_at:
        raise WrongState(_("“%(item)s” was changed meanwhile; "
                           "nothing was undone.") % {"item": item})
    if evidence.strip():
        resolve(engagement, evidence)
        item.evidence = evidence.strip()
    if is_done and item.needs_evidence and not item.evidence:
        raise InvalidInput(_("“%(item)s” needs evidence: a stored file such "
                             "as #12, a link or a location.") % {"item": item})
    item.done_by, item.done_at = (actor, timezone.now()) if is_done else (None, None)
    item.save(update_fields=["done_by", "done_at", "evidence"])
    audit_log.record(actor=actor, action="checklist.tick" if is_done else "checklist.untick",
                     target=item, engagement=engagement, data={"evidence": item.evidence})
    return item
