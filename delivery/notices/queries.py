"""Queries that pages and API share."""

from django.db.models import Count, QuerySet

from delivery.notices.event_kinds import IMPORTANT, KINDS, EventKind, kind_of, kinds_for
from delivery.notices.models import Notice, Preference
from engagements.web.paging import counted

MOST_UNREAD = 99


def unread_count(user) -> int:
    """How many important notices wait in the inbox, counted to MOST_UNREAD + 1."""
    return counted(Notice.objects.visible_to(user).unread().important(), MOST_UNREAD)


def digest(user) -> list[tuple[EventKind, int]]:
    """How many of the other unread notices there are of each kind, the most frequent first."""
    counts = Notice.objects.visible_to(user).unread().exclude(
        event__kind__in=IMPORTANT).order_by().values_list("event__kind").annotate(
        n=Count("pk")).order_by("-n", "event__kind")
    return [(kind_of(code), n) for code, n in counts]


def filtered(notices: QuerySet, params) -> QuerySet:
    """The inbox's filter: unread only, kind of event, engagement."""
    if params.get("unread"):
        notices = notices.unread()
    if params.get("kind") in KINDS:
        notices = notices.filter(event__kind=params["kind"])
    if params.get("engagement"):
        notices = notices.filter(event__engagement__code=params["engagement"])
    return notices.select_related("event__engagement", "event__actor")


def preference_rows(user, engagement=None) -> list[Preference]:
    """The user's preference of each kind he may hear of; unsaved where he chose none.

    For an engagement, what he chose in general counts until he chooses otherwise for it.
    """
    rows = Preference.objects.filter(user=user)
    general = {row.kind: row for row in rows.filter(engagement=None)}
    special = {row.kind: row for row in rows.filter(engagement=engagement)} if engagement else {}
    return [special.get(kind.code) or general.get(kind.code)
            or Preference(user=user, kind=kind.code, email=kind.email)
            for kind in kinds_for(user)]
