from decimal import Decimal

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.models import Engagement
from engagements.models.engagement import local


class CompanyProfile(models.Model):
    """The firm's own particulars, party B (乙方), as every paper prints them."""

    name = models.CharField(_("registered name"), max_length=160)
    name_en = models.CharField(_("English name"), max_length=160, blank=True)
    credit_code = models.CharField(_("unified social credit code"), max_length=18, blank=True)
    address = models.CharField(_("address"), max_length=240, blank=True)
    phone = models.CharField(_("phone"), max_length=40, blank=True)
    email = models.EmailField(_("e-mail"), blank=True)
    contact_name = models.CharField(_("contact"), max_length=80, blank=True)
    bank = models.CharField(_("bank"), max_length=120, blank=True)
    bank_account = models.CharField(_("account number"), max_length=40, blank=True)

    def __str__(self) -> str:
        return self.name


class RateCard(models.Model):
    """Prices with a period of validity: cloud resources, services and grades."""

    name = models.CharField(_("name"), max_length=120)
    valid_from = models.DateField(_("valid from"))
    valid_to = models.DateField(_("valid to"), null=True, blank=True)
    source = models.CharField(_("source"), max_length=240, blank=True)
    stated_total = models.DecimalField(_("total printed in the source"), max_digits=16,
                                       decimal_places=2, null=True, blank=True)

    class Meta:
        ordering = ["-valid_from", "name"]

    def __str__(self) -> str:
        return self.name


class PriceLine(models.Model):
    """One price of a rate card."""

    class Category(models.TextChoices):
        RESOURCE = "resource", _("Cloud resource")
        MIGRATION = "migration", _("Migration services")
        TUNING = "tuning", _("Tuning services")
        OTHER = "other", _("Other services")

    card = models.ForeignKey(RateCard, models.CASCADE, related_name="lines")
    position = models.PositiveSmallIntegerField(default=0)
    category = models.CharField(_("category"), max_length=12, choices=Category)
    code = models.CharField(_("code"), max_length=40)
    name = models.CharField(_("item"), max_length=120)
    name_en = models.CharField(max_length=120, blank=True)
    specification = models.CharField(_("specification"), max_length=240, blank=True)
    specification_en = models.CharField(max_length=240, blank=True)
    grade = models.CharField(_("grade"), max_length=40, blank=True)
    unit = models.CharField(_("unit"), max_length=40)  # code: month, person_day, once
    quantity = models.DecimalField(_("usual quantity"), max_digits=12, decimal_places=2, default=1)
    unit_price = models.DecimalField(_("unit price (excl. tax)"), max_digits=16, decimal_places=4,
                                     null=True, blank=True)
    line_fee = models.DecimalField(_("fee printed for the line"), max_digits=16, decimal_places=2,
                                   null=True, blank=True)

    class Meta:
        ordering = ["card", "position"]
        constraints = [models.UniqueConstraint(fields=["card", "code"], name="price_code_unique")]

    def __str__(self) -> str:
        return self.local_name

    @property
    def local_name(self) -> str:
        return local(self.name, self.name_en)


class QuoteQuerySet(models.QuerySet):
    def visible_to(self, user) -> "QuoteQuerySet":
        """Customers see only what was issued to them."""
        quotes = self.filter(engagement__in=Engagement.objects.visible_to(user))
        if user.is_authenticated and user.is_reviewer:
            return quotes.exclude(state__in=[Quote.State.DRAFT, Quote.State.IN_REVIEW,
                                             Quote.State.APPROVED])
        return quotes


class Quote(models.Model):
    """A numbered version of a quotation (报价单). Issued is immutable."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        IN_REVIEW = "in_review", _("In review")
        APPROVED = "approved", _("Approved")
        ISSUED = "issued", _("Issued")
        ACCEPTED = "accepted", _("Accepted")
        DECLINED = "declined", _("Declined")
        EXPIRED = "expired", _("Expired")
        SUPERSEDED = "superseded", _("Superseded")

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="quotes")
    number = models.CharField(_("number"), max_length=60)
    version = models.PositiveSmallIntegerField(_("version"), default=1)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.DRAFT)
    quote_date = models.DateField(_("date"))
    valid_until = models.DateField(_("valid until"))
    currency = models.CharField(_("currency"), max_length=3, default="CNY")
    discount_rate = models.DecimalField(_("discount"), max_digits=6, decimal_places=4,
                                        default=Decimal(0))
    discount_reason = models.CharField(_("reason for the discount"), max_length=240, blank=True)
    payment_terms = models.JSONField(default=list, blank=True)
    notes = models.TextField(_("assumptions and exclusions"), blank=True)
    notes_en = models.TextField(blank=True)
    source_note = models.TextField(_("explanation of differing source totals"), blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    issued_at = models.DateTimeField(null=True, blank=True)
    snapshot = models.JSONField(default=dict, blank=True)
    content_hash = models.CharField(max_length=64, blank=True)

    objects = QuoteQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["number", "version"], name="quote_version_unique"),
            models.CheckConstraint(condition=models.Q(valid_until__gte=models.F("quote_date")),
                                   name="quote_valid_after_date"),
        ]

    def __str__(self) -> str:
        return f"{self.number} V{self.version}"


class QuoteLine(models.Model):
    """A priced line. `amount` is never stored: it is always computed."""

    quote = models.ForeignKey(Quote, models.CASCADE, related_name="lines")
    position = models.PositiveSmallIntegerField(default=0)
    category = models.CharField(_("category"), max_length=12, choices=PriceLine.Category)
    code = models.CharField(_("code"), max_length=40)
    name = models.CharField(_("item"), max_length=120)
    name_en = models.CharField(max_length=120, blank=True)
    specification = models.CharField(_("specification"), max_length=240, blank=True)
    specification_en = models.CharField(max_length=240, blank=True)
    grade = models.CharField(_("grade"), max_length=40, blank=True)
    unit = models.CharField(_("unit"), max_length=40)
    quantity = models.DecimalField(_("quantity"), max_digits=12, decimal_places=2)
    months = models.DecimalField(_("months"), max_digits=6, decimal_places=2, default=1)
    unit_price = models.DecimalField(_("unit price (excl. tax)"), max_digits=16, decimal_places=4)
    tax_rate = models.DecimalField(_("tax rate"), max_digits=5, decimal_places=4,
                                   default=Decimal("0.06"))
    remark = models.CharField(_("remark"), max_length=240, blank=True)

    class Meta:
        ordering = ["position", "pk"]
