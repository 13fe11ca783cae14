"""Invoices of payment milestones and what was paid on them. No bookkeeping beyond that: the finance
system has the ledger of the firm."""

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from delivery.planning.models import Milestone
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of


class InvoiceQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "InvoiceQuerySet":
        """Those of visible engagements, for the firm alone."""
        is_outside = user.is_authenticated and (user.is_reviewer or user.is_auditor)
        return self.none() if is_outside else self.filter(in_engagements_of(user))

    def outstanding(self) -> "InvoiceQuerySet":
        """Invoices of which something is still to be paid, with `credited` (zero or below) and
        `paid`."""
        return self.filter(credits=None).annotate(
            credited=sum_of(Invoice, "credits"), paid=sum_of(Payment, "invoice")).filter(
            amount__gt=models.F("paid") - models.F("credited"))


def sum_of(table: type[models.Model], path: str) -> Coalesce:
    """The amounts of another table's rows that belong to the row of the query; zero without any."""
    rows = table.objects.filter(**{path: models.OuterRef("pk")}).order_by().values(path)
    return Coalesce(models.Subquery(rows.annotate(total=models.Sum("amount")).values("total")),
                    models.Value(Decimal(0)), output_field=models.DecimalField(
                        max_digits=18, decimal_places=2))


class Invoice(models.Model):
    """An invoice (发票) of a milestone; a credit note (红字发票) names the invoice that it takes
    back and has an amount below zero."""

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="invoices")
    milestone = models.ForeignKey(Milestone, models.PROTECT, related_name="invoices",
                                  verbose_name=_("milestone"))
    number = models.CharField(_("invoice number"), max_length=40, unique=True)
    issued_on = models.DateField(_("invoice date"))
    due_on = models.DateField(_("payable by"))
    amount = models.DecimalField(_("amount incl. tax"), max_digits=16, decimal_places=2)
    currency = models.CharField(_("currency"), max_length=3)
    credits = models.ForeignKey("self", models.PROTECT, null=True, blank=True,
                                related_name="credit_notes", verbose_name=_("credit note for"))
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = InvoiceQuerySet.as_manager()

    class Meta:
        ordering = ["issued_on", "pk"]
        indexes = [models.Index(fields=["due_on", "id"], name="invoices_by_due_day")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(credits=None, amount__gt=0)
                | models.Q(credits__isnull=False, amount__lt=0),
                name="credit_note_is_below_zero"),
            models.CheckConstraint(condition=models.Q(due_on__gte=models.F("issued_on")),
                                   name="invoice_payable_after_its_date"),
        ]

    def __str__(self) -> str:
        return self.number


class PaymentQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "PaymentQuerySet":
        return self.filter(invoice__in=Invoice.objects.visible_to(user))


class Payment(models.Model):
    """What the customer paid on an invoice, in its currency."""

    invoice = models.ForeignKey(Invoice, models.PROTECT, related_name="payments")
    paid_on = models.DateField(_("paid on"))
    amount = models.DecimalField(_("amount"), max_digits=16, decimal_places=2)
    reference = models.CharField(_("bank reference"), max_length=80, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = PaymentQuerySet.as_manager()

    class Meta:
        ordering = ["paid_on", "pk"]
        constraints = [models.CheckConstraint(condition=models.Q(amount__gt=0),
                                              name="payment_above_zero")]

    def __str__(self) -> str:
        return f"{self.invoice} · {self.paid_on}"

    @property
    def engagement(self) -> Engagement:
        return self.invoice.engagement
