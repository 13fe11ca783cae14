"""A version that a change order of both sides brings about: agreed on, so in force at once."""

from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass
from decimal import Decimal

from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.quotes.models import PriceLine, Quote, QuoteLine
from delivery.quotes.services.drafts import copy_version, newest_version
from delivery.quotes.services.lines import priced_line
from delivery.quotes.transitions import (
    DUTIES,
    TRANSITIONS,
    check_limit,
    checked_facts,
    freeze,
    supersede_older,
)
from engagements.access import Can, require
from engagements.duties import Duty, require_separated
from engagements.errors import WrongState
from engagements.models import User
from engagements.moves import follow


class Action(models.TextChoices):
    ADD = "add", gettext_lazy("Add this item")
    CHANGE = "change", gettext_lazy("Change the line")
    REMOVE = "remove", gettext_lazy("Remove the line")


@dataclass(frozen=True)
class LineChange:
    """One line's change: `price` for an added line, `line` for the others."""

    action: str
    line: QuoteLine | None = None
    price: PriceLine | None = None
    quantity: Decimal | None = None
    months: Decimal = Decimal(1)
    unit_price: Decimal | None = None  # without it the price stays as it is listed


def require_in_force(quote: Quote) -> None:
    """Raise WrongState unless the quote is what of its number is in force: the version that the
    customer accepted, or else the one that was issued.

    Later versions that are drafts, offered, declined, expired or revoked take nothing from an
    accepted one.
    """
    versions = Quote.objects.in_force().filter(number=quote.number).without_facts().order_by(
        "-version")
    found = versions.filter(state=Quote.State.ACCEPTED).first() or versions.first()
    if found and found.pk == quote.pk:
        return
    facts = {"quote": quote, "state": quote.get_state_display(), "found": found}
    if found:
        raise WrongState(_("%(quote)s is not in force (%(state)s), %(found)s is. Create a new "
                           "change request.") % facts)
    raise WrongState(_("%(quote)s is not in force (%(state)s). Create a new change request.")
                     % facts)


def preview_version(quote: Quote, changes: Iterable[LineChange], coming: Collection[str] = ()
                    ) -> dict:
    """The facts that the next version would freeze; nothing is written. `coming`: stages that come
    into scope with it.

    Raises ChecksFailed for rules (R-QUO) that it would not meet.
    """
    lines, draft = changed_lines(quote, changes), copy(quote)
    draft.staffing, draft.approved_by = changed_staffing(quote, lines), None
    draft.quote_date = timezone.localdate()
    draft.valid_until = max(quote.valid_until, draft.quote_date)
    return checked_facts(draft, lines, coming)


@transaction.atomic
def agree_on_version(*, actor: User, author: User, customer: User, quote: Quote,
                     changes: Iterable[LineChange], reason: str) -> Quote:
    """The next version with changed lines, accepted at once; the versions before are superseded.

    Both sides have signed the change order, which stands for review, approval and answer.

    Args:
        actor: who approved for the firm, within the role's discount limit; not the author.
        author: who wrote the change order.
        customer: who approved for the customer.
    Raises:
        WrongState: the quote is not what is in force. ChecksFailed: a rule is not met.
    """
    require(actor, Can.MANAGE, quote.engagement)
    require(customer, Can.REVIEW, quote.engagement)
    newest_version(quote.number)  # locks the number
    require_in_force(quote)
    lines = changed_lines(quote, changes)
    made = copy_version(author, quote, lines, reason, is_beside_open=True)
    require_separated(DUTIES, actor, made, Duty.APPROVER)
    made.staffing = changed_staffing(quote, lines)
    made.approved_by, made.approved_at = actor, timezone.now()
    check_limit(actor, made)
    freeze(made, checked_facts(made))
    made.answered_by, made.answered_at = customer, made.issued_at
    supersede_older(made, actor, *Quote.IN_FORCE)
    return follow(actor=actor, table=TRANSITIONS, subject=made, event="agreed by a change order",
                  reason=reason, hash=made.content_hash)


# The lines that the quote would have, in memory ----------------------------------------


def changed_lines(quote: Quote, changes: Iterable[LineChange]) -> list[QuoteLine]:
    """The lines that the quote would have, as copies; its stored lines are not touched.

    Raises InvalidInput for an item without a price.
    """
    changes = list(changes)
    of_line = {change.line.pk: change for change in changes if change.line}
    changed = [_changed(line, of_line.get(line.pk)) for line in quote.lines.all()
               if line.pk not in of_line or of_line[line.pk].action != Action.REMOVE]
    last = max((line.position for line in changed), default=0)
    added = [change for change in changes if change.action == Action.ADD]
    return [*changed, *(_added(quote, change, last + n) for n, change in enumerate(added, 1))]


def _changed(line: QuoteLine, change: LineChange | None) -> QuoteLine:
    found = copy(line)
    if change:
        found.quantity, found.months = change.quantity, change.months
        found.unit_price = line.unit_price if change.unit_price is None else change.unit_price
    return found


def _added(quote: Quote, change: LineChange, position: int) -> QuoteLine:
    line = priced_line(quote, change.price, change.quantity, change.months, position)
    if change.unit_price is not None:
        line.unit_price = change.unit_price
    return line


def changed_staffing(quote: Quote, lines: list[QuoteLine]) -> list[dict]:
    """The staffing plan with the days that the new lines add or take; [] where none is kept."""
    if not quote.staffing:
        return []
    before, after = person_days(quote.lines.all()), person_days(lines)
    plan = {entry["grade"]: dict(entry) for entry in quote.staffing}
    for grade in sorted(before.keys() | after.keys()):
        more = after.get(grade, Decimal(0)) - before.get(grade, Decimal(0))
        entry = plan.setdefault(grade, {"grade": grade, "people": None, "days": "0"})
        entry["days"] = f"{(Decimal(entry['days']) + more).normalize():f}"
    return [entry for entry in plan.values() if Decimal(entry["days"]) > 0]


def person_days(lines: Iterable[QuoteLine]) -> dict[str, Decimal]:
    """Person-days of lines by grade."""
    days: dict[str, Decimal] = {}
    for line in lines:
        if line.unit == "person_day":
            days[line.grade] = days.get(line.grade, Decimal(0)) + line.quantity
    return days
