"""One item of the inbox: what to do, where, how urgent it is and why."""

from dataclasses import dataclass
from datetime import date, datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engagements.models import User

OVERDUE, SOON, OTHERS_WAIT, BROKEN, OPEN, ALSO = range(6)  # urgency: the smaller, the earlier
SOON_DAYS = 7
FEW = 5  # more rows of one kind in an engagement are one line that leads to their list
COLOUR_CODES = {OVERDUE: "late", SOON: "warning", OTHERS_WAIT: "in_review", BROKEN: "failed",
                OPEN: "draft", ALSO: "draft"}


@dataclass(frozen=True)
class InboxItem:
    """One thing to do: what, about what, its page, why now, since when or until when.

    `left`: days until it is due, `days`: days since it waits; None where nobody knows.
    """

    urgency: int
    kind: str  # code, for the API and tests
    label: str
    title: str
    engagement: str
    url: str
    left: int | None = None
    days: int | None = None
    since: datetime | None = None
    due: date | None = None
    count: int = 1  # rows that it stands for

    @property
    def reason(self) -> str:
        """Why it stands where it stands, in words."""
        return _reason(self.urgency, self.left, self.days)

    @property
    def code(self) -> str:
        """Colour code of its tag."""
        return COLOUR_CODES[self.urgency]

    @property
    def rank(self) -> str:
        """The heading above it."""
        return {OVERDUE: _("Overdue"), SOON: _("Due within a week"),
                OTHERS_WAIT: _("Blocking others"), BROKEN: _("Problems"),
                OPEN: _("Everything else"), ALSO: _("I can do this too")}[self.urgency]


@dataclass(frozen=True)
class InboxContext:
    """Whose inbox it is, at what time; builds its items."""

    user: User
    now: datetime

    @property
    def today(self) -> date:
        return timezone.localdate(self.now)

    def day_of(self, moment: datetime | None) -> date:
        """The day of a moment; today where none is known."""
        return timezone.localdate(moment or self.now)

    def item(self, rank: int, kind: str, label: str, title: str, engagement: str, url: str, *,
              since: datetime | None = None, due: date | None = None, count: int = 1) -> InboxItem:
        """An item; a due date that is near or past makes it more urgent than its rank."""
        left = None if due is None else (due - self.today).days
        urgency = rank if rank == ALSO else OVERDUE if left is not None and left < 0 else (
            min(rank, SOON) if left is not None and left <= SOON_DAYS else rank)
        return InboxItem(urgency, kind, label, title, engagement, url, left,
                         self._days_since(since), since=since, due=due, count=count)

    def _days_since(self, since: datetime | None) -> int | None:
        return since and max(0, (self.today - self.day_of(since)).days)


def _reason(urgency: int, left: int | None, days: int | None) -> str:
    """Why it stands where it stands: the days left until it is due, or those it has waited."""
    if left is not None and urgency != OTHERS_WAIT:
        return _until(left)
    words = {OTHERS_WAIT: (_("blocking others"), _("waiting since today"),
                           ngettext("waiting for %(n)d day", "waiting for %(n)d days", days or 0)),
             BROKEN: (_("failing"), _("failing since today"),
                      ngettext("failing for %(n)d day", "failing for %(n)d days", days or 0)),
             OPEN: (_("open"), _("open since today"),
                    ngettext("open for %(n)d day", "open for %(n)d days", days or 0))}
    words[ALSO] = words[OPEN]
    unknown, today, before = words[urgency]
    return unknown if days is None else before % {"n": days} if days else today


def _until(left: int) -> str:
    if left < 0:
        return ngettext("%(n)d day late", "%(n)d days late", -left) % {"n": -left}
    if left == 0:
        return _("due today")
    return ngettext("due in %(n)d day", "due in %(n)d days", left) % {"n": left}
