"""The ledger of payment milestones: what each is worth, what released it, invoiced and paid.

Amounts are those of the agreement (price incl. tax × per cent of the milestone, the last takes the
rest); the state follows from papers, invoices and payments and is stored nowhere.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from django.db.models import Exists, F, OuterRef, QuerySet, TextChoices
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from delivery.agreement.queries import contracted
from delivery.invoicing.models import Invoice, Payment, sum_of
from delivery.planning.models import Milestone
from delivery.planning.plan.trigger_documents import (
    TriggerDocument,
    is_released,
    trigger_documents,
)
from delivery.quotes.money import split
from engagements.models import Engagement

ZERO = Decimal(0)


class LedgerState(TextChoices):
    NOT_DUE = "not_due", _("Not due yet")
    DUE = "due", _("To be invoiced")
    INVOICED = "invoiced", _("Invoiced")
    OVERDUE = "overdue", pgettext_lazy("a payment", "Overdue")
    PAID = "paid", pgettext_lazy("a payment", "Paid")


@dataclass(frozen=True)
class Entry:
    """A milestone in the ledger.

    Attributes:
        amount: incl. tax, in `currency`; None where no price is agreed or the milestones do not add
            up to 100 per cent.
        payable_days: days after the invoice by which it is payable; None where none are agreed.
        document: the paper that released it; None before.
        invoices: with their payments, the oldest first.
    """

    milestone: Milestone
    engagement: Engagement
    amount: Decimal | None
    currency: str
    payable_days: int | None
    document: TriggerDocument | None
    invoices: list[Invoice] = field(default_factory=list)

    @property
    def invoiced(self) -> Decimal:
        """What is invoiced, less credit notes."""
        return sum((invoice.amount for invoice in self.invoices), ZERO)

    @property
    def paid(self) -> Decimal:
        return sum((payment.amount for invoice in self.invoices
                    for payment in invoice.payments.all()), ZERO)

    @property
    def outstanding(self) -> Decimal:
        """What is invoiced and not paid."""
        return self.invoiced - self.paid

    @property
    def due_on(self) -> date | None:
        """The first day by which something outstanding is payable."""
        return min((invoice.due_on for invoice in self.invoices if not invoice.credits_id
                    and open_amount(invoice) > 0), default=None)

    @property
    def state(self) -> LedgerState:
        if self.outstanding > 0:
            is_late = self.due_on and self.due_on < timezone.localdate()
            return LedgerState.OVERDUE if is_late else LedgerState.INVOICED
        if self.invoiced > 0:
            return LedgerState.PAID
        return LedgerState.DUE if self.document else LedgerState.NOT_DUE

    @property
    def days_overdue(self) -> int:
        late = self.state == LedgerState.OVERDUE
        return (timezone.localdate() - self.due_on).days if late else 0


def open_amount(invoice: Invoice) -> Decimal:
    """What is still to be paid on an invoice, its credit notes and payments taken off."""
    return (invoice.amount + sum((note.amount for note in invoice.credit_notes.all()), ZERO)
            - sum((payment.amount for payment in invoice.payments.all()), ZERO))


def milestones_of(user) -> QuerySet[Milestone]:
    """The milestones of plans that the user may see, by engagement."""
    return Milestone.objects.filter(
        plan__engagement__in=Engagement.objects.keys_visible_to(user)).order_by(
        "-plan__engagement_id", "position", "pk")


def asked_for(user, params: Mapping[str, str]) -> QuerySet[Milestone]:
    """Those of a list: of one engagement (`engagement`, its code), in one state (`state`)."""
    found = milestones_of(user).select_related("plan__engagement__customer")
    if code := params.get("engagement", "").strip():
        found = found.filter(plan__engagement__code=code)
    state = params.get("state", "")
    return in_ledger_state(found, state) if state in LedgerState.values else found


def in_ledger_state(milestones: QuerySet[Milestone], state: str) -> QuerySet[Milestone]:
    """Those that stand in a state of the ledger today, by the database alone."""
    rows = milestones.annotate(invoiced_sum=sum_of(Invoice, "milestone"),
                               paid_sum=sum_of(Payment, "invoice__milestone"))
    if state == LedgerState.PAID:
        return rows.filter(invoiced_sum__gt=0, paid_sum__gte=F("invoiced_sum"))
    if state in (LedgerState.INVOICED, LedgerState.OVERDUE):
        late = Exists(Invoice.objects.outstanding().filter(
            milestone=OuterRef("pk"), due_on__lt=timezone.localdate()))
        rows = rows.filter(invoiced_sum__gt=F("paid_sum"))
        return rows.filter(late if state == LedgerState.OVERDUE else ~late)
    rows = rows.filter(invoiced_sum__lte=0)
    return rows.filter(is_released()) if state == LedgerState.DUE else rows.exclude(is_released())


def entries_of(milestones: Iterable[Milestone]) -> list[Entry]:
    """The ledger of these milestones; a few queries for any number of them."""
    rows = list(milestones)
    keys = {row.plan.engagement_id for row in rows}
    documents, terms = trigger_documents(keys), _terms(keys)
    invoices: dict[int, list[Invoice]] = defaultdict(list)
    for invoice in Invoice.objects.filter(milestone__in=rows).prefetch_related(
            "payments", "credit_notes"):
        invoices[invoice.milestone_id].append(invoice)
    return [Entry(row, row.plan.engagement, *terms.get(row.pk, (None, "", None)),
                  documents[row.plan.engagement_id].get(row.trigger), invoices[row.pk])
            for row in rows]


def _terms(engagements: Collection[int]) -> dict[int, tuple[Decimal | None, str, int | None]]:
    """Amount, currency and days of payment by milestone, of the agreed price and payments. The
    days are those of the payment in the same place, where the payments are the agreed ones."""
    shares: dict[int, list[tuple[int, Decimal]]] = defaultdict(list)
    for pk, engagement, percent in Milestone.objects.filter(
            plan__engagement__in=engagements).order_by("position", "pk").values_list(
            "pk", "plan__engagement", "percent"):
        shares[engagement].append((pk, percent))
    found = {}
    for key, agreement in contracted(engagements).items():
        price, percents = agreement.value("price"), [percent for _pk, percent in shares[key]]
        if price and sum(percents) == 100:
            parts = split(Decimal(price["gross"]), percents)
            payments = agreement.value("payments") or []
            days = ([row.get("days") for row in payments]
                    if [Decimal(row["percent"]) for row in payments] == percents
                    else [None] * len(percents))
            found |= {pk: (part, price["currency"], late) for (pk, _percent), part, late in zip(
                shares[key], parts, days, strict=True)}
    return found


AGES = ((0, _("not yet payable")), (30, _("1 to 30 days")), (60, _("31 to 60 days")),
        (90, _("61 to 90 days")), (None, _("more than 90 days")))


def ages_of(user) -> list[dict]:
    """What is outstanding on visible invoices by how long it is overdue, per currency."""
    today = timezone.localdate()
    sums: dict[tuple[int, str], Decimal] = defaultdict(Decimal)
    rows = Invoice.objects.visible_to(user).outstanding()
    for invoice in rows.iterator():
        days = (today - invoice.due_on).days
        place = next(n for n, (most, _label) in enumerate(AGES) if most is None or days <= most)
        sums[place, invoice.currency] += invoice.amount + invoice.credited - invoice.paid
    currencies = sorted({currency for _place, currency in sums})
    return [{"most_days": most, "label": label, "amounts": [
                {"currency": currency, "amount": sums[n, currency]}
                for currency in currencies if (n, currency) in sums]}
            for n, (most, label) in enumerate(AGES)]
