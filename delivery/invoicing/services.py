"""Writes of invoices and payments. Each owns its transaction, lock and audit entry."""

from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import BinaryIO

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _

from delivery.invoicing.ledger import entries_of, open_amount
from delivery.invoicing.models import Invoice, Payment
from delivery.planning.models import Milestone
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User
from workers.uploaded_table import read_table

LARGEST = Decimal(10) ** 13
COLUMNS = ("number", "paid_on", "amount", "reference")  # of a list of payments


@transaction.atomic
def add_invoice(*, actor: User, milestone: Milestone, number: str, issued_on: date,
                amount: Decimal | None = None, due_on: date | None = None) -> Invoice:
    """Note the invoice of a milestone.

    Args:
        amount: incl. tax, in the agreement's currency; without it what is not invoiced yet.
        due_on: without it as many days after the invoice as are agreed.
    Raises InvalidInput for a number that is taken, an amount above what is agreed, a milestone
    without an agreed amount, or no day to pay by where none is agreed.
    """
    milestone = Milestone.objects.select_for_update(of=("self",), no_key=True).select_related(
        "plan__engagement").get(pk=milestone.pk)
    engagement = milestone.plan.engagement
    require(actor, Can.PRICE, engagement, may_have_ended=True)
    entry = entries_of([milestone])[0]
    if entry.amount is None:
        raise InvalidInput(_("No price is agreed for this milestone: accept the quote first."))
    rest = entry.amount - entry.invoiced
    amount = rest if amount is None else amount
    if not 0 < amount <= rest:
        raise InvalidInput(_("%(rest)s %(currency)s of this milestone are not invoiced yet; an "
                             "invoice is above zero and not above that.") % {
            "rest": f"{rest:.2f}", "currency": entry.currency})
    _require_free(number)
    if due_on is None:
        if entry.payable_days is None:
            raise InvalidInput(_("No days of payment are agreed for this milestone: give the day "
                                 "by which the invoice is payable."))
        due_on = issued_on + timedelta(days=entry.payable_days)
    _require_days(issued_on, due_on)
    invoice = Invoice.objects.create(
        engagement=engagement, milestone=milestone, number=number.strip(), issued_on=issued_on,
        due_on=due_on, amount=amount, currency=entry.currency, created_by=actor)
    _record(actor, invoice, "invoice.add", amount=f"{amount}", milestone=milestone.name)
    return invoice


@transaction.atomic
def add_credit_note(*, actor: User, invoice: Invoice, number: str, issued_on: date,
                    amount: Decimal | None = None) -> Invoice:
    """Take an invoice back, wholly or in part; its milestone can then be invoiced anew.

    Raises InvalidInput for a number that is taken, or an amount above what is still to be paid.
    """
    require(actor, Can.PRICE, invoice.engagement, may_have_ended=True)
    invoice = _locked(invoice)
    if invoice.credits_id:
        raise InvalidInput(_("A credit note is not taken back; add an invoice."))
    rest = open_amount(invoice)
    amount = rest if amount is None else amount
    if not 0 < amount <= rest:
        raise InvalidInput(_("%(rest)s %(currency)s of invoice %(number)s are still to be paid; a "
                             "credit note is above zero and not above that.") % {
            "rest": f"{rest:.2f}", "currency": invoice.currency, "number": invoice})
    _require_free(number)
    _require_days(issued_on, issued_on)
    note = Invoice.objects.create(
        engagement=invoice.engagement, milestone=invoice.milestone, number=number.strip(),
        issued_on=issued_on, due_on=issued_on, amount=-amount, currency=invoice.currency,
        credits=invoice, created_by=actor)
    _record(actor, note, "invoice.credit", amount=f"{-amount}", invoice=str(invoice))
    return note


@transaction.atomic
def add_payment(*, actor: User, invoice: Invoice, paid_on: date, amount: Decimal | None = None,
                reference: str = "") -> Payment:
    """Note what the customer paid on an invoice; without an amount all that is open.

    Raises InvalidInput for a day in the future or before the invoice, or more than is open.
    """
    require(actor, Can.PRICE, invoice.engagement, may_have_ended=True)
    invoice = _locked(invoice)
    rest = open_amount(invoice)
    amount = rest if amount is None else amount
    if invoice.credits_id or not 0 < amount <= rest:
        raise InvalidInput(_("%(rest)s %(currency)s of invoice %(number)s are still to be paid; a "
                             "payment is above zero and not above that.") % {
            "rest": f"{max(rest, Decimal(0)):.2f}", "currency": invoice.currency,
            "number": invoice})
    if not invoice.issued_on <= paid_on <= timezone.localdate():
        raise InvalidInput(_("A payment lies between the invoice's date, %(first)s, and today.") % {
            "first": invoice.issued_on})
    payment = Payment.objects.create(invoice=invoice, paid_on=paid_on, amount=amount,
                                     reference=reference.strip(), created_by=actor)
    _record(actor, payment, "payment.add", amount=f"{amount}", invoice=str(invoice))
    return payment


@transaction.atomic
def import_payments(*, actor: User, upload: BinaryIO) -> list[Payment]:
    """Payments from a list of the finance system, all of them or none: xlsx or CSV with the columns
    `number` (of the invoice), `paid_on`, `amount`, `reference`.

    A row that was imported before (invoice, day, amount and reference are the same) is passed over.
    Raises InvalidInput naming each row that does not fit, with its number in the file.
    """
    require(actor, Can.PRICE)
    made, wrong = [], []
    for entry in read_table(upload):
        try:
            made.append(_imported(actor, entry.values))
        except InvalidInput as error:
            wrong.append(f"{entry.place}: {error.message}")
    if wrong:
        raise InvalidInput("\n".join(wrong[:20]))
    return [payment for payment in made if payment]


def _imported(actor: User, values: dict[str, str]) -> Payment | None:
    number, day, amount, reference = (f"{values.get(name) or ''}".strip() for name in COLUMNS)
    invoice = Invoice.objects.visible_to(actor).select_related("engagement").filter(
        number=number).first()
    if invoice is None:
        raise InvalidInput(_("There is no invoice “%(number)s”.") % {"number": number})
    try:
        paid_on, paid = parse_date(day[:10]), Decimal(amount.replace(",", ""))
    except (ValueError, InvalidOperation):
        paid_on = paid = None
    if paid_on is None or paid is None or not abs(paid) < LARGEST or paid != round(paid, 2):
        raise InvalidInput(_("“paid_on” is a date as 2026-03-31, “amount” a number with at most "
                             "two decimals."))
    if invoice.payments.filter(paid_on=paid_on, amount=paid, reference=reference[:80]).exists():
        return None
    return add_payment(actor=actor, invoice=invoice, paid_on=paid_on, amount=paid,
                       reference=reference[:80])


def _locked(invoice: Invoice) -> Invoice:
    return Invoice.objects.select_for_update(of=("self",), no_key=True).select_related(
        "engagement", "milestone").get(pk=invoice.pk)


def _require_free(number: str) -> None:
    if not number.strip():
        raise InvalidInput(_("Give the invoice's number."))
    if Invoice.objects.filter(number=number.strip()).exists():
        raise InvalidInput(_("The invoice number %(number)s is taken.") % {"number": number})


def _require_days(issued_on: date, due_on: date) -> None:
    if issued_on > timezone.localdate():
        raise InvalidInput(_("An invoice is not dated in the future."))
    if due_on < issued_on:
        raise InvalidInput(_("An invoice is payable on its date or later."))


def _record(actor: User, row: Invoice | Payment, action: str, **data) -> None:
    audit_log.record(actor=actor, action=action, target=row, engagement=row.engagement,
                     data={"number": str(row), **data})
