from collections.abc import Collection
from datetime import date
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.documents.models import IssuedFile
from delivery.quotes.models.framework import FrameworkContract
from delivery.quotes.models.prices import Bilingual, PriceLine
from delivery.quotes.money import OWN_CURRENCY, Money
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of
from engagements.stages import Stage


class QuoteQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "QuoteQuerySet":
        """Customers see only what was issued to them, auditors no prices."""
        if user.is_authenticated and user.is_auditor:
            return self.none()
        quotes = self.filter(in_engagements_of(user))
        if user.is_authenticated and user.is_reviewer:
            return quotes.exclude(state__in=Quote.OPEN_STATES)
        return quotes

    def without_facts(self) -> "QuoteQuerySet":
        """For lists: what only the quote's own page and its documents show."""
        return self.defer("snapshot", "payment_terms", "staffing", "conditions", "source", "notes",
                          "notes_en", "internal_note", "source_note")

    def frozen(self) -> "QuoteQuerySet":
        """What was issued, whatever became of it."""
        return self.exclude(content_hash="")

    def in_force(self) -> "QuoteQuerySet":
        """What the customer was offered or accepted, and nothing has replaced."""
        return self.filter(state__in=Quote.IN_FORCE)

    def accepted_besides(self, quote: "Quote") -> "QuoteQuerySet":
        """The accepted quotes of the engagement that have another number."""
        return self.filter(engagement=quote.engagement_id, state=Quote.State.ACCEPTED).exclude(
            number=quote.number)

    def agreed(self, engagements: Collection[int]) -> dict[int, list["Quote"]]:
        """Of each engagement the quotes that the customer accepted and that stand beside each
        other, the oldest first; where none was accepted, the newest that was issued. One query.

        A quote of another number that does not say that it is agreed on besides the others stands
        alone; such ones were accepted before quotes could say it.
        """
        accepted = Quote.State.ACCEPTED
        rows = self.in_force().filter(engagement__in=engagements).order_by("issued_at", "pk")
        found: dict[int, list[Quote]] = {}
        for quote in sorted(rows, key=lambda row: row.state == accepted):
            before = found.get(quote.engagement_id, [])
            is_added = (quote.relation == Quote.Relation.ADDS and before
                        and before[-1].state == quote.state == accepted)
            found[quote.engagement_id] = [*before, quote] if is_added else [quote]
        return found

    def overdue(self, today: date) -> "QuoteQuerySet":
        """Issued, unanswered, and past their last valid day."""
        return self.filter(state=Quote.State.ISSUED, valid_until__lt=today)

    def in_state(self, state: str, today: date) -> "QuoteQuerySet":
        """Those in a state as it stands on a day; issued ones expire by their date alone."""
        late = models.Q(state=Quote.State.ISSUED, valid_until__lt=today)
        if state == Quote.State.EXPIRED:
            return self.filter(late | models.Q(state=state))
        return self.filter(state=state).exclude(late)


class Quote(models.Model):
    """A numbered version of a quotation (报价单). Issued is immutable."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        IN_REVIEW = "in_review", _("Awaiting review")
        REVIEWED = "reviewed", _("Review confirmed")
        APPROVED = "approved", _("Approved")
        ISSUED = "issued", _("Issued")
        ACCEPTED = "accepted", _("Accepted")
        DECLINED = "declined", _("Declined")
        EXPIRED = "expired", _("Expired")
        SUPERSEDED = "superseded", _("Superseded")
        REVOKED = "revoked", _("Revoked")

    IN_FORCE = (State.ISSUED, State.ACCEPTED)
    OPEN_STATES = (State.DRAFT, State.IN_REVIEW, State.REVIEWED, State.APPROVED)  # the firm's own

    class Relation(models.TextChoices):
        ADDS = "adds", _("is agreed on besides them")
        REPLACES = "replaces", _("replaces them")

    class Invoice(models.TextChoices):
        SPECIAL = "special", _("Special VAT invoice")
        ORDINARY = "ordinary", _("Ordinary VAT invoice")

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="quotes")
    framework = models.ForeignKey(FrameworkContract, models.PROTECT, null=True, blank=True,
                                  related_name="quotes", verbose_name=_("framework contract"))
    number = models.CharField(_("number"), max_length=60)
    version = models.PositiveSmallIntegerField(_("version"), default=1)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.DRAFT)
    revision = models.PositiveIntegerField(default=1)  # counts the writes of a draft
    subject = models.CharField(_("subject"), max_length=200, blank=True)
    subject_en = models.CharField(_("subject (English)"), max_length=200, blank=True)
    quote_date = models.DateField(_("date"))
    valid_until = models.DateField(_("valid until"))
    currency = models.CharField(_("currency"), max_length=3, default=OWN_CURRENCY)
    exchange_rate = models.DecimalField(_("exchange rate"), max_digits=12, decimal_places=6,
                                        default=Decimal(1))
    discount_rate = models.DecimalField(_("discount"), max_digits=6, decimal_places=4,
                                        default=Decimal(0))
    discount_reason = models.CharField(_("reason for the discount"), max_length=240, blank=True)
    invoice = models.CharField(_("invoice type"), max_length=10, choices=Invoice,
                               default=Invoice.SPECIAL)
    relation = models.CharField(
        _("relation to the engagement's other accepted quotes"), max_length=8, choices=Relation,
        blank=True)
    payment_terms = models.JSONField(default=list, blank=True)
    staffing = models.JSONField(default=list, blank=True)  # [{"grade", "people", "days"}]
    conditions = models.JSONField(default=dict,
                                  blank=True)  # see delivery.quotes.standard_conditions
    notes = models.TextField(_("assumptions and exclusions"), blank=True)
    notes_en = models.TextField(_("assumptions and exclusions (English)"), blank=True)
    # Of the effort estimate from which the lines were taken.
    estimate_version = models.PositiveIntegerField(null=True, blank=True)
    internal_note = models.TextField(_("internal note"), blank=True)  # never in the snapshot
    source = models.JSONField(default=dict, blank=True)  # totals of a list that contradicts itself
    source_note = models.TextField(_("explanation of differing source totals"), blank=True)
    change_reason = models.CharField(_("reason for this version"), max_length=240, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    reviewed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    reviewed_at = models.DateTimeField(null=True, blank=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    approved_at = models.DateTimeField(null=True, blank=True)
    issued_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    answer_reason = models.TextField(_("reason given by the customer"), blank=True)
    snapshot = models.JSONField(default=dict, blank=True)
    content_hash = models.CharField(max_length=64, blank=True)

    objects = QuoteQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["state", "-id"], name="quotes_by_state"),
            models.Index(fields=["state", "created_at", "id"], name="quotes_by_age"),
            models.Index(fields=["state", "reviewed_at", "id"], name="quotes_by_review"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["number", "version"], name="quote_version_unique"),
            models.CheckConstraint(condition=models.Q(valid_until__gte=models.F("quote_date")),
                                   name="quote_valid_after_date"),
            models.CheckConstraint(
                condition=models.Q(discount_rate__gte=0, discount_rate__lt=1),
                name="quote_discount_is_a_fraction"),
            models.CheckConstraint(condition=models.Q(exchange_rate__gt=0),
                                   name="quote_exchange_rate_positive"),
            # Who reviews is the firm's to say (DutySetting); an author never approves.
            models.CheckConstraint(
                condition=models.Q(approved_by=None) | ~models.Q(
                    approved_by=models.F("created_by")),
                name="quote_author_does_not_approve"),
        ]

    def __str__(self) -> str:
        return f"{self.number} V{self.version}"

    @property
    def file_name(self) -> str:
        """What its files are called before language and ending."""
        return f"{self.number}-V{self.version}"

    @property
    def yuan_rate(self) -> Decimal | None:
        """Yuan, the firm's own money, for one unit of the quote's; None where nobody entered it."""
        if self.currency == OWN_CURRENCY:
            return Decimal(1)
        return None if self.exchange_rate == 1 else self.exchange_rate

    def money(self, amount: Decimal) -> Money:
        """An amount of this quote, which counts at the rate of the quote's date."""
        return Money(amount, self.currency, self.yuan_rate, self.quote_date)

    @property
    def current_state(self) -> str:
        """The state as it stands today: what was issued expires by its date alone."""
        is_over = self.state == self.State.ISSUED and self.valid_until < timezone.localdate()
        return self.State.EXPIRED if is_over else self.state

    def get_current_state_display(self) -> str:
        return str(self.State(self.current_state).label)


class QuoteLine(Bilingual):
    """A priced line. `amount` is never stored: it is always computed."""

    quote = models.ForeignKey(Quote, models.CASCADE, related_name="lines")
    position = models.PositiveSmallIntegerField(default=0)
    category = models.CharField(_("category"), max_length=12, choices=PriceLine.Category)
    code = models.CharField(_("code"), max_length=40)
    name = models.CharField(_("item"), max_length=120)
    name_en = models.CharField(_("item (English)"), max_length=120, blank=True)
    specification = models.CharField(_("work or specification"), max_length=240, blank=True)
    specification_en = models.CharField(_("work or specification (English)"), max_length=240,
                                        blank=True)
    stage = models.CharField(_("stage"), max_length=16, choices=Stage, blank=True)
    grade = models.CharField(_("grade"), max_length=40, blank=True)
    unit = models.CharField(_("unit"), max_length=40)
    quantity = models.DecimalField(_("quantity"), max_digits=12, decimal_places=2)
    months = models.DecimalField(_("months"), max_digits=6, decimal_places=2, default=1)
    unit_price = models.DecimalField(_("unit price"), max_digits=16, decimal_places=4)
    is_tax_included = models.BooleanField(_("the unit price includes tax"), default=False)
    tax_rate = models.DecimalField(_("tax rate"), max_digits=5, decimal_places=4,
                                   default=Decimal("0.06"))
    unit_cost = models.DecimalField(_("internal cost per unit"), max_digits=16, decimal_places=4,
                                    null=True, blank=True)
    priced_at = models.DecimalField(  # empty: in the quote's own currency, or a free line
        _("exchange rate of the price"), max_digits=12, decimal_places=6, null=True, blank=True)
    remark = models.CharField(_("remark"), max_length=240, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(quantity__gt=0, months__gt=0, unit_price__gte=0,
                                   tax_rate__gte=0, tax_rate__lt=1),
                name="quote_line_figures_positive")]

    def __str__(self) -> str:
        return f"{self.code} {self.localized_name}"


class QuoteFile(IssuedFile):
    """The stored bytes of an issued quote; `format` is pdf or xlsx."""

    quote = models.ForeignKey(Quote, models.CASCADE, related_name="files")

    class Meta(IssuedFile.Meta):
        constraints = [models.UniqueConstraint(fields=["quote", "language", "format"],
                                               name="one_quote_file_per_language_and_format")]

    @property
    def download_name(self) -> str:
        return f"{self.quote.file_name}-{self.language}.{self.ending}"
