"""Reading the agreement: the one place where every other package asks for a contract fact."""

from collections.abc import Collection
from datetime import datetime

from delivery.agreement.facts import Origin, draw
from delivery.agreement.models import Agreement
from delivery.quotes.models import Quote
from engagements.agreed_scope import register_agreement, register_period
from engagements.models import Engagement

State = Agreement.State
OF_QUOTE = ("price", "payments", "included", "excluded", "resources", "effort", "warranty_months",
            "acceptance")
OF_MANY = ("price", "payments", "effort")


def in_force(engagement: Engagement) -> Agreement | None:
    """The version that was agreed on last; None before the first."""
    return Agreement.objects.filter(engagement=engagement, state=State.AGREED).first()


def agreed_at(engagement: Engagement, moment: datetime) -> Agreement:
    """The version that was in force then; before the first, what the quotes hold that the customer
    had accepted, which may be nothing."""
    found = Agreement.objects.filter(engagement=engagement, agreed_at__lt=moment).first()
    if found:
        return found
    quotes = [quote for quote in Quote.objects.agreed([engagement.pk]).get(engagement.pk, [])
              if quote.state == Quote.State.ACCEPTED and quote.answered_at < moment]
    return Agreement(engagement=engagement, values=draw(Origin(engagement, quotes), {}, OF_MANY))


def agreement_of(engagement: Engagement, origin: Origin | None = None) -> Agreement:
    """The version in force; before one was agreed the draft, drawn as its sources are now.

    Args:
        origin: the engagement's rows, where they are read already.
    """
    return in_force(engagement) or offered(engagement, origin)


def offered(engagement: Engagement, origin: Origin | None = None) -> Agreement:
    """The version that the statement of work puts to both sides: the draft, else the next one,
    which is not stored before somebody enters a value or it is agreed."""
    stored = list(Agreement.objects.filter(engagement=engagement).order_by("version"))
    last = stored[-1] if stored else None
    draft = last if last and last.state == State.DRAFT else Agreement(
        engagement=engagement, version=last.version + 1 if last else 1,
        entered=last.entered if last else {})
    draft.values = draw(origin or Origin(engagement), draft.entered)
    return draft


def contracted(engagements: Collection[int]) -> dict[int, Agreement]:
    """Price, payments and effort of each engagement: of the version in force, else of the draft,
    which takes them from its quotes. Two queries for any number."""
    found = {row.engagement_id: row for row in Agreement.objects.filter(
        engagement__in=engagements, state=State.AGREED)}
    rest = [key for key in engagements if key not in found]
    for key, quotes in (Quote.objects.agreed(rest) if rest else {}).items():
        found[key] = Agreement(engagement_id=key, values=draw(
            Origin(Engagement(pk=key), quotes), {}, OF_MANY))
    return found


@register_period
def period_agreed_in(engagement: Engagement) -> str:
    """The agreement in force, where it holds an end."""
    found = in_force(engagement)
    return str(found) if found and found.value("ends_on") else ""


@register_agreement
def scope_agreed_in(engagement: Engagement) -> str:
    """The agreement in force; before one is, the quote that the customer accepted, which counts
    models and stages."""
    return str(in_force(engagement)
               or Quote.objects.filter(engagement=engagement, state=Quote.State.ACCEPTED)
               .order_by("pk").without_facts().last() or "")
