"""The inbox: what waits for one person to do, the most urgent first."""

from datetime import date, datetime

from django.utils import timezone

from delivery.portal.inbox import agreements, control, documents, work
from delivery.portal.inbox.items import OTHERS_WAIT, InboxContext, InboxItem
from engagements.models import User

SOURCES = (*work.SOURCES, *agreements.SOURCES, *documents.SOURCES, *control.SOURCES)

__all__ = ["InboxItem", "inbox_items"]


def inbox_items(user: User, now: datetime | None = None) -> list[InboxItem]:
    """All that waits for the user: overdue, due soon, what others wait for, what broke, the rest.

    Within a rank what is due first or waits longest comes first. The number of queries does not
    depend on the number of rows.
    """
    context = InboxContext(user, now or timezone.now())
    found = [item for source in SOURCES for item in source(context)]
    return sorted(found, key=lambda item: (
        item.urgency, _first(context, item), item.label, item.title))


def _first(context: InboxContext, item: InboxItem) -> date:
    """What others wait for goes by how long they do, all else by when it is due, if it is."""
    is_waited_for = item.urgency == OTHERS_WAIT and item.since
    return context.day_of(item.since) if is_waited_for else item.due or context.day_of(item.since)
