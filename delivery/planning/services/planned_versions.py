"""Writes of the planned environment."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.models import PlannedVersion
from delivery.planning.models.planned_version import LONGEST
from delivery.planning.plan.planned_items import ITEMS
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, User


@transaction.atomic
def set_planned_versions(*, actor: User, engagement: Engagement, versions: dict[str, str]
                         ) -> list[PlannedVersion]:
    """Plan versions and other items of the target environment; an empty value takes one back.

    Items that are not named stay as they are. One audit entry with what changed, if anything did.
    Raises InvalidInput for an unknown item or a value of more than 120 characters.
    """
    require(actor, Can.WORK, engagement)
    engagement = Engagement.objects.select_for_update(of=("self",), no_key=True).get(
        pk=engagement.pk)
    known = {row.item: row for row in engagement.planned_versions.all()}
    wanted = {item: _checked(item, value) for item, value in versions.items()}
    changed = {item: [known[item].value if item in known else "", value]
               for item, value in wanted.items()
               if value != (known[item].value if item in known else "")}
    for item, (_old, value) in changed.items():
        _set(actor, engagement, item, value)
    if changed:
        audit_log.record(actor=actor, action="planned_versions.set", target=engagement,
                         engagement=engagement, data={"changed": changed})
    return list(engagement.planned_versions.all())


def _set(actor: User, engagement: Engagement, item: str, value: str) -> None:
    if not value:
        engagement.planned_versions.filter(item=item).delete()
        return
    row = engagement.planned_versions.filter(item=item).first() or PlannedVersion(
        engagement=engagement, item=item)
    row.value, row.set_by, row.set_at = value, actor, timezone.now()
    row.save()


def _checked(item: str, value: str) -> str:
    if item not in ITEMS:
        raise InvalidInput(_("“%(item)s” is not an environment item; available: %(items)s.") % {
            "item": item, "items": ", ".join(ITEMS)})
    value = " ".join(str(value).split())
    if len(value) > LONGEST:
        raise InvalidInput(_("%(item)s: %(n)d characters; at most %(limit)d are allowed.") % {
            "item": item, "n": len(value), "limit": LONGEST})
    return value
