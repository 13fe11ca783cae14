"""Maintenance windows, reservations of cards, and quotas of engagements."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, User
from workers.models import CardQuota, Node, NodeReservation
from workers.nodes.card_leases import usable_cards


@transaction.atomic
def reserve(*, actor: User, node: Node, starts_at: datetime, ends_at: datetime, reason: str,
            engagement: Engagement | None = None, cards: int = 0) -> NodeReservation:
    """Keep cards for an engagement, or the whole node for maintenance. Nothing that runs is ended.

    Args:
        cards: 0 means all of the node.
    Raises InvalidInput for a time that is over or ends before it begins, for more cards than the
    node has left beside other reservations, and for cards of a maintenance window.
    """
    require(actor, Can.OPERATE)
    node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
    if ends_at <= starts_at or ends_at <= timezone.now():
        raise InvalidInput(_("The period has passed, or it ends before it begins."))
    found = NodeReservation(node=node, engagement=engagement, cards=cards if engagement else 0,
                            starts_at=starts_at, ends_at=ends_at, reason=reason.strip())
    found.full_clean(exclude=["node", "engagement"])
    if engagement:
        _require_room(found)
    found.save()
    audit_log.record(actor=actor, action="node.reserve", target=found, engagement=engagement, data={
        "node": node.name, "cards": found.cards, "from": starts_at.isoformat(),
        "to": ends_at.isoformat(), "reason": found.reason})
    return found


def _require_room(wanted: NodeReservation) -> None:
    """Reservations that overlap at all are counted together."""
    usable = len(usable_cards(wanted.node))
    others = NodeReservation.objects.filter(
        node=wanted.node, starts_at__lt=wanted.ends_at, ends_at__gt=wanted.starts_at,
        engagement__isnull=False)
    taken = sum(one.cards or usable for one in others)
    if taken + (wanted.cards or usable) > usable:
        raise InvalidInput(_(
            "The node has %(usable)d healthy cards, of which %(taken)d are reserved in that time. "
            "Choose fewer cards, another time or another node.")
            % {"usable": usable, "taken": min(taken, usable)})


@transaction.atomic
def end_reservation(*, actor: User, reservation: NodeReservation) -> None:
    """Give a reservation or a maintenance window up; what waits for it may start."""
    require(actor, Can.OPERATE)
    found = NodeReservation.objects.select_for_update(of=("self",), no_key=True).get(
        pk=reservation.pk)
    NodeReservation.objects.filter(pk=found.pk).delete()
    audit_log.record(actor=actor, action="node.reserve_end", target=found,
                     engagement=found.engagement, data={"node": found.node.name})


@transaction.atomic
def set_quota(*, actor: User, engagement: Engagement, cards: int | None) -> CardQuota | None:
    """How many cards the engagement's jobs may hold at once; None for no limit."""
    require(actor, Can.OPERATE)
    if cards is None:
        CardQuota.objects.filter(engagement=engagement).delete()
        quota = None
    else:
        CardQuota(engagement=engagement, cards=cards).full_clean(validate_unique=False,
                                                                 validate_constraints=False)
        quota, _made = CardQuota.objects.update_or_create(
            engagement=engagement, defaults={"cards": cards})
    audit_log.record(actor=actor, action="engagement.card_quota", target=engagement,
                     engagement=engagement, data={"cards": cards})
    return quota
