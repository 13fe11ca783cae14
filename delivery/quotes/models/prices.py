from datetime import date
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Role
from engagements.models.engagement import localized
from engagements.stages import Stage


class Bilingual(models.Model):
    """An item with name and specification in Chinese and, where there is one, in English."""

    class Meta:
        abstract = True

    @property
    def localized_name(self) -> str:
        return localized(self.name, self.name_en)

    @property
    def localized_specification(self) -> str:
        return localized(self.specification, self.specification_en)


class DatedQuerySet(AuditedQuerySet):
    def valid_on(self, day: date) -> "DatedQuerySet":
        return self.filter(valid_from__lte=day).filter(
            models.Q(valid_to=None) | models.Q(valid_to__gte=day))

    def valid_between(self, first: date, last: date | None) -> "DatedQuerySet":
        """Valid on any day of a period, which without a last day has no end."""
        found = self.filter(models.Q(valid_to=None) | models.Q(valid_to__gte=first))
        return found if last is None else found.filter(valid_from__lte=last)


class Dated(models.Model):
    """A row with its first day and, where it has an end, its last."""

    objects = DatedQuerySet.as_manager()

    class Meta:
        abstract = True

    def is_valid_on(self, day: date) -> bool:
        return self.valid_from <= day and (self.valid_to is None or day <= self.valid_to)


class RateCard(Dated):
    """Prices with a period of validity: cloud resources, services and grades."""

    name = models.CharField(_("name"), max_length=120, unique=True)
    currency = models.CharField(_("currency"), max_length=3, default="CNY")
    valid_from = models.DateField(_("valid from"))
    valid_to = models.DateField(_("valid to"), null=True, blank=True)
    source = models.CharField(_("source"), max_length=240, blank=True)
    stated_total = models.DecimalField(_("total printed in the source"), max_digits=16,
                                       decimal_places=2, null=True, blank=True)

    objects = DatedQuerySet.as_manager()

    class Meta:
        ordering = ["-valid_from", "name"]
        constraints = [models.CheckConstraint(
            condition=models.Q(valid_to=None) | models.Q(valid_to__gte=models.F("valid_from")),
            name="rate_card_ends_after_start")]

    def __str__(self) -> str:
        return self.name


class PriceLine(Bilingual):
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
    stage = models.CharField(_("stage"), max_length=16, choices=Stage, blank=True)
    grade = models.CharField(_("grade"), max_length=40, blank=True)
    unit = models.CharField(_("unit"), max_length=40)  # code: month, person_day, once, at_cost
    quantity = models.DecimalField(_("usual quantity"), max_digits=12, decimal_places=2, default=1)
    unit_price = models.DecimalField(_("unit price (excl. tax)"), max_digits=16, decimal_places=4,
                                     null=True, blank=True)
    unit_cost = models.DecimalField(_("internal cost per unit"), max_digits=16, decimal_places=4,
                                    null=True, blank=True)
    line_fee = models.DecimalField(_("fee printed for the line"), max_digits=16, decimal_places=2,
                                   null=True, blank=True)
    basis = models.CharField(_("basis of the price"), max_length=240, blank=True)
    basis_en = models.CharField(max_length=240, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["card", "position", "pk"]
        constraints = [models.UniqueConstraint(fields=["card", "code"], name="price_code_unique")]

    def __str__(self) -> str:
        price = "--" if self.unit_price is None else f"{Decimal(self.unit_price):,.2f}"
        return f"{self.code} {self.localized_name} · {price}"

    @property
    def localized_basis(self) -> str:
        return localized(self.basis, self.basis_en)


class PriceImport(models.Model):
    """An uploaded price table that waits for its columns to be confirmed; no price yet."""

    name = models.CharField(_("name of the price list"), max_length=120)
    valid_from = models.DateField(_("valid from"))
    valid_to = models.DateField(_("valid to"), null=True, blank=True)
    file_name = models.CharField(max_length=160)
    sha256 = models.CharField(max_length=64)
    sheet = models.CharField(_("sheet"), max_length=80)
    rows = models.JSONField(default=list)  # texts of the cells, row by row
    remarks = models.JSONField(default=list)  # [code, cell] of formulas and merged cells
    header_row = models.PositiveIntegerField(_("row of the headings"), default=1)
    columns = models.JSONField(default=dict)  # field: column number from 0
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    card = models.OneToOneField(RateCard, models.SET_NULL, null=True, blank=True,
                                related_name="price_import")

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


class DiscountLimit(models.Model):
    """The largest discount a role approves (DOMAIN 9.2, item 9)."""

    role = models.CharField(_("role"), max_length=20, choices=Role, unique=True)
    rate = models.DecimalField(_("largest discount"), max_digits=6, decimal_places=4)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["rate"]
        constraints = [models.CheckConstraint(
            condition=models.Q(rate__gte=0, rate__lte=1), name="discount_limit_is_a_fraction")]

    def __str__(self) -> str:
        return f"{self.get_role_display()} {self.rate * 100:.2f} %"


class TaxRate(models.Model):
    """A rate of value-added tax with its period of validity (DOMAIN 9.4)."""

    rate = models.DecimalField(_("tax rate"), max_digits=5, decimal_places=4)
    name = models.CharField(_("name"), max_length=80)
    name_en = models.CharField(max_length=80, blank=True)
    valid_from = models.DateField(_("valid from"))
    valid_to = models.DateField(_("valid to"), null=True, blank=True)
    is_default = models.BooleanField(default=False)

    objects = DatedQuerySet.as_manager()

    class Meta:
        ordering = ["-is_default", "-rate"]

    def __str__(self) -> str:
        return f"{Decimal(self.rate * 100).normalize():f} % {localized(self.name, self.name_en)}"
