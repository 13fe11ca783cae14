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
                    is_complete: bool = True, remark: str = "",
                    missing: dict[str, str] | None = None) -> list[Receipt]:
    """Confirm that these deliverables were received, or say what is missing. Writes an entry.

    Receipt is no acceptance. Raises InvalidInput for an item that is not on the list, nothing
    chosen, an item both received and missing, or something missing without a remark; WrongState
    for what was received already.

    Args:
        missing: of further items, by key, what is missing or wrong.
    """
    review, missing = lock_for_action(actor, review, ReviewAction.RECEIPTS), missing or {}
    remarks = {**dict.fromkeys(keys, "" if is_complete else remark.strip()),
               **{key: text.strip() for key, text in missing.items()}}
    if not all(remarks[key] for key in (missing if is_complete else remarks)):
        raise InvalidInput(_("Describe what is missing or wrong."))
    both = next((item for item in _chosen(review, remarks) if item.key in missing
                 and item.key in keys), None)
    if both:
        raise InvalidInput(_("%(item)s: tick it as received, or say what is missing or wrong.") % {
            "item": both.title})
    made = [Receipt.objects.create(
        review=review, key=item.key, title=item.title[:200], version=item.version,
        sha256=item.sha256, is_complete=not remarks[item.key], remark=remarks[item.key][:400],
        received_by=actor) for item in _chosen(review, remarks)]
    record_action(actor, review, ReviewAction.RECEIPTS, {
        "complete": all(row.is_complete for row in made),
        "items": [{"title": row.title, "sha256": row.sha256, "remark": row.remark}
                  for row in made]})
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
