"""Receipt of deliverables by a named person (AR-13)."""

from collections.abc import Collection

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from delivery.acceptance.models import Receipt, Review
from delivery.acceptance.review.deliverables import Deliverable, deliverables_of
from delivery.acceptance.review.transitions import ReviewAction, record_action
from delivery.acceptance.services.reviews import lock_for_action
from engagements.errors import InvalidInput, WrongState
from engagements.models import User


@transaction.atomic
def confirm_receipt(*, actor: User, review: Review, keys: Collection[str],
                    is_complete: bool = True, remark: str = "") -> list[Receipt]:
    """Confirm that these deliverables were received, or say what is missing. Writes an entry.

    Receipt is no acceptance. Raises InvalidInput for an item that is not on the list, nothing
    chosen, or something missing without a remark; WrongState for what was received already.
    """
    review, remark = lock_for_action(actor, review, ReviewAction.RECEIPTS), remark.strip()
    if not (is_complete or remark):
        raise InvalidInput(_("Describe what is missing or wrong."))
    made = [Receipt.objects.create(
        review=review, key=item.key, title=item.title[:200], version=item.version,
        sha256=item.sha256, is_complete=is_complete, remark=remark[:400], received_by=actor)
        for item in _chosen(review, keys)]
    record_action(actor, review, ReviewAction.RECEIPTS, {
        "complete": is_complete, "remark": remark[:400],
        "items": [{"title": row.title, "sha256": row.sha256} for row in made]})
    return made


def _chosen(review: Review, keys: Collection[str]) -> list[Deliverable]:
    listed = {item.key: item for item in deliverables_of(review, get_language())}
    if not keys or set(keys) - set(listed):
        raise InvalidInput(_("Choose deliverables of this list."))
    chosen = [listed[key] for key in listed if key in keys]
    done = next((item for item in chosen if item.is_received), None)
    if done:
        raise WrongState(_("%(item)s has already been received.") % {"item": done.title})
    return chosen
