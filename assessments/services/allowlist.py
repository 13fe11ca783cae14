"""Writes of the allow-list: one person proposes, another reviews (DOMAIN R-ACC-02, AR-11)."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.accuracy.allowlist import Difference
from assessments.models import AllowedDifference
from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User

SHORTEST_PREFIX = 3


@transaction.atomic
def propose_difference(
    *, actor: User, engagement: Engagement, sheet: str, item: str, reason: str,
    bench_value: str = "", npu_value: str = "", is_any_value: bool = False,
) -> AllowedDifference:
    """Propose a difference of environment or packages as natural; it counts once reviewed.

    Args:
        item: the exact name, or its beginning followed by `*` (then any value is meant).

    Raises InvalidInput for other sheets, for a pattern that names hardly anything and without a
    reason.
    """
    require(actor, Can.WORK, engagement)
    item, reason = item.strip(), reason.strip()
    _check(sheet, item, reason)
    if item.endswith("*"):
        is_any_value = True
    values = ("", "") if is_any_value else (bench_value[:240], npu_value[:240])
    entry, is_new = AllowedDifference.objects.get_or_create(
        engagement=engagement, sheet=sheet, item=item[:160], withdrawn_at=None,
        bench_value=values[0], npu_value=values[1], is_any_value=is_any_value,
        defaults={"reason": reason[:240], "proposed_by": actor})
    if is_new:
        audit_log.record(actor=actor, action="allowlist.propose", target=entry,
                         engagement=engagement,
                     data={"reason": entry.reason, "bench": values[0], "npu": values[1],
                           "any_value": is_any_value})
    return entry


@transaction.atomic
def propose_differences(*, actor: User, engagement: Engagement, differences: list[Difference],
                        reason: str) -> list[AllowedDifference]:
    """Propose several differences with exactly their values; all or none of them."""
    if not differences:
        raise InvalidInput(_("Select at least one difference."))
    return [propose_difference(
        actor=actor, engagement=engagement, sheet=row.sheet, item=row.item, reason=reason,
        bench_value=row.bench, npu_value=row.npu) for row in differences]


def _check(sheet: str, item: str, reason: str) -> None:
    if sheet not in AllowedDifference.Sheet.values:
        raise InvalidInput(_("Only environment variables and packages may differ; everything else "
                             "must match."))
    if not item or (item.endswith("*") and len(item) <= SHORTEST_PREFIX) or "*" in item[:-1]:
        raise InvalidInput(_("Give the item's name, or a prefix of at least three characters "
                             "ending in one *."))
    if not reason:
        raise InvalidInput(_("Explain why this difference does not matter."))


def _reviewing(actor: User) -> Can:
    return Can.REVIEW if allowed(actor, Can.REVIEW) else Can.MANAGE


@transaction.atomic
def review_difference(*, actor: User, entry: AllowedDifference) -> AllowedDifference:
    """A manager or the customer's reviewer lets a proposed difference count.

    Raises WrongState for one's own proposal and for an entry that is not open.
    """
    require(actor, _reviewing(actor), entry.engagement)
    entry = AllowedDifference.objects.select_for_update(of=("self",), no_key=True).get(pk=entry.pk)
    if entry.withdrawn_at or entry.reviewed_at:
        raise WrongState(_("This entry is not awaiting review."))
    if entry.proposed_by_id == actor.pk:
        raise WrongState(_("Someone else has to review your proposal."))
    entry.reviewed_by, entry.reviewed_at = actor, timezone.now()
    entry.save(update_fields=["reviewed_by", "reviewed_at"])
    audit_log.record(actor=actor, action="allowlist.review", target=entry,
                     engagement=entry.engagement)
    return entry


@transaction.atomic
def withdraw_difference(*, actor: User, entry: AllowedDifference) -> AllowedDifference:
    """End an entry: by who proposed it, a manager or the customer's reviewer."""
    is_own = entry.proposed_by_id == actor.pk
    require(actor, Can.WORK if is_own else _reviewing(actor), entry.engagement)
    entry = AllowedDifference.objects.select_for_update(of=("self",), no_key=True).get(pk=entry.pk)
    if entry.withdrawn_at:
        raise WrongState(_("This entry has already been withdrawn."))
    entry.withdrawn_by, entry.withdrawn_at = actor, timezone.now()
    entry.save(update_fields=["withdrawn_by", "withdrawn_at"])
    audit_log.record(actor=actor, action="allowlist.withdraw", target=entry,
                     engagement=entry.engagement)
    return entry
