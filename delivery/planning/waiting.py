"""What waits for a person on the way from a survey to an issued quote."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.quotes.models import Quote
from delivery.quotes.services.moves import may_review
from delivery.surveys.models import Survey
from engagements.access import Can, allowed
from engagements.models import User

OVERDUE, OTHERS_WAIT, BROKEN, OPEN = range(4)  # urgency: the smaller, the earlier



@dataclass(frozen=True)
class Waiting:
    """One thing to do: what, where, its page, since when or until when."""

    urgency: int
    kind: str  # code, for the API and tests
    label: str
    title: str
    engagement: str
    url: str
    since: datetime | None = None
    due: date | None = None

    @property
    def code(self) -> str:
        """Colour code of its tag."""
        return {OVERDUE: "failed", OTHERS_WAIT: "in_review", BROKEN: "failed"}.get(
            self.urgency, "open")


def surveys_waiting(user: User) -> Iterator[Waiting]:
    """Handed in: to confirm, for who delivers; confirmed and not quoted: for who prices."""
    rows = Survey.objects.visible_to(user).select_related("engagement").order_by("pk")
    wanted = []
    if allowed(user, Can.WORK) and not allowed(user, Can.MANAGE):
        wanted.append((rows.filter(state=Survey.State.SUBMITTED), "survey",
                       _("Survey to confirm"), "surveys:overview"))
    if allowed(user, Can.PRICE) and not allowed(user, Can.MANAGE):
        wanted.append((rows.filter(state=Survey.State.CONFIRMED, engagement__quotes=None),
                       "quote_due", _("Quote to write"), "quotes:engagement"))
    for surveys, kind, label, route in wanted:
        for survey in surveys:
            code = survey.engagement.code
            yield Waiting(OTHERS_WAIT, kind, label, survey.engagement.local_name, code,
                          reverse(route, args=[code]),
                          since=survey.confirmed_at or survey.submitted_at)


def quotes_waiting(user: User) -> Iterator[Waiting]:
    """To review or approve (never one's own), to issue, or to answer as the customer."""
    quotes = Quote.objects.visible_to(user).select_related("engagement").order_by("pk")
    wanted = []
    if may_review(user):
        wanted.append((quotes.filter(state=Quote.State.IN_REVIEW).exclude(created_by=user),
                       _("Quote to review")))
    if allowed(user, Can.MANAGE):
        wanted.append((quotes.filter(state=Quote.State.REVIEWED).exclude(
            created_by=user).exclude(reviewed_by=user), _("Quote to approve")))
    if allowed(user, Can.PRICE) and not allowed(user, Can.MANAGE):
        wanted.append((quotes.filter(state=Quote.State.APPROVED), _("Quote to issue")))
    if allowed(user, Can.REVIEW):
        wanted.append((quotes.filter(state=Quote.State.ISSUED), _("Quote to answer")))
    for rows, label in wanted:
        for quote in rows:
            yield Waiting(OTHERS_WAIT, "quote", label, str(quote), quote.engagement.code,
                          reverse("quotes:quote", args=[quote.pk]), since=quote.created_at)
