"""Maintenance windows, reservations of cards, and quotas of engagements."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User
from workers.models import CardQuota, Node, NodeReservation
from workers.nodes.card_leases import usable_cards


@transaction.atomic
def reserve(*, actor: User, node: Node, starts_at: datetime, ends_at: datetime, reason: str,
            engagement: Engagement | None = None, cards: int = 0,
            stops_jobs_at: datetime | None = None, is_over_reservations: bool = False
            ) -> NodeReservation:
    """Keep cards for an engagement, or the whole node for maintenance.

    Owners of jobs that run there are told of a maintenance and what becomes of them, managers of
    engagements whose reservations it meets that it does.

    Args:
        cards: 0 means all of the node.
        stops_jobs_at: of a maintenance: what still runs then is ended. None: nothing is.
        is_over_reservations: says that maintenance may meet reservations of engagements.
    Raises InvalidInput for a time that is over or ends before it begins, for more cards than the
    node has left beside other reservations, and for a stop outside a maintenance; WrongState
    for maintenance over reservations that does not say so.
    """
    require(actor, Can.OPERATE)
    node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
    if ends_at <= starts_at or ends_at <= timezone.now():
        raise InvalidInput(_("The period has passed, or it ends before it begins."))
    if stops_jobs_at and (engagement or not starts_at <= stops_jobs_at <= ends_at):
        raise InvalidInput(_("Running jobs are stopped within a maintenance only."))
    found = NodeReservation(node=node, engagement=engagement, cards=cards if engagement else 0,
                            starts_at=starts_at, ends_at=ends_at, reason=reason.strip(),
                            stops_jobs_at=stops_jobs_at)
    found.full_clean(exclude=["node", "engagement"])
    if engagement:
        _require_room(found)
    met = [] if engagement else list(_overlapping(found).select_related("engagement"))
    if met and not is_over_reservations:
        raise WrongState(ngettext(
            "%(n)d reservation of an engagement lies in that time (first from %(start)s). Confirm "
            "that the maintenance goes before; its managers are told.",
            "%(n)d reservations of engagements lie in that time (first from %(start)s). Confirm "
            "that the maintenance goes before; their managers are told.", len(met)) % {
            "n": len(met), "start": f"{timezone.localtime(met[0].starts_at):%Y-%m-%d %H:%M}"})
    found.save()
    for row in met:
        audit_log.record(actor=actor, action="node.maintenance_over", target=row,
                         engagement=row.engagement, data={
                             "node": node.name, "from": starts_at.isoformat(),
                             "to": ends_at.isoformat(), "reason": found.reason})
    audit_log.record(actor=actor, action="node.reserve", target=found, engagement=engagement, data={
        "node": node.name, "cards": found.cards, "from": starts_at.isoformat(),
        "to": ends_at.isoformat(), "reason": found.reason,
        **({"stops_jobs_at": stops_jobs_at.isoformat()} if stops_jobs_at else {})})
    return found


def _require_room(wanted: NodeReservation) -> None:
    """Reservations that overlap at all are counted together."""
    usable = len(usable_cards(wanted.node))
    taken = sum(one.cards or usable for one in _overlapping(wanted))
    if taken + (wanted.cards or usable) > usable:
        raise InvalidInput(_(
            "The node has %(usable)d healthy cards, of which %(taken)d are reserved in that time. "
            "Choose fewer cards, another time or another node.")
            % {"usable": usable, "taken": min(taken, usable)})


def _overlapping(wanted: NodeReservation) -> QuerySet[NodeReservation]:
    """Reservations of engagements on the node at that time."""
    return NodeReservation.objects.filter(
        node=wanted.node, starts_at__lt=wanted.ends_at, ends_at__gt=wanted.starts_at,
        engagement__isnull=False)


def reservations_ahead(user: User, now: datetime) -> list[NodeReservation]:
    """What is reserved from now on, each with `is_foreign`: of an engagement that the user does not
    see, of which only node, cards and time are for them."""
    rows = list(NodeReservation.objects.filter(ends_at__gt=now).select_related(
        "node", "engagement"))
    seen = set(NodeReservation.objects.visible_to(user).filter(
        ends_at__gt=now).values_list("pk", flat=True))
    for row in rows:
        row.is_foreign = row.pk not in seen
    return rows


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
