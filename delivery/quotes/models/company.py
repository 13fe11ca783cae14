from datetime import date
from decimal import Decimal

from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.models import Role
from engagements.models.engagement import local
from engagements.vouching import VouchedQuerySet


class CompanyProfile(models.Model):
    """The firm's own particulars, party B (乙方), as every paper prints them."""

    name = models.CharField(_("registered name"), max_length=160)
    name_en = models.CharField(_("English name"), max_length=160, blank=True)
    credit_code = models.CharField(_("unified social credit code"), max_length=18, blank=True)
    address = models.CharField(_("address"), max_length=240, blank=True)
    address_en = models.CharField(_("address (English)"), max_length=240, blank=True)
    phone = models.CharField(_("phone"), max_length=40, blank=True)
    email = models.EmailField(_("e-mail"), blank=True)
    contact_name = models.CharField(_("contact"), max_length=80, blank=True)
    bank = models.CharField(_("bank"), max_length=120, blank=True)
    bank_account = models.CharField(_("account number"), max_length=40, blank=True)

    objects = VouchedQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    @classmethod
    def current(cls) -> "CompanyProfile":
        """The stored profile, or an empty one."""
        return cls.objects.first() or cls()


class DiscountLimit(models.Model):
    """The largest discount a role approves (DOMAIN 9.2, item 9)."""

    role = models.CharField(_("role"), max_length=20, choices=Role, unique=True)
    rate = models.DecimalField(_("largest discount"), max_digits=6, decimal_places=4)

    objects = VouchedQuerySet.as_manager()

    class Meta:
        ordering = ["rate"]
        constraints = [models.CheckConstraint(
            condition=models.Q(rate__gte=0, rate__lte=1), name="discount_limit_is_a_fraction")]

    def __str__(self) -> str:
        return f"{self.get_role_display()} {self.rate * 100:.2f} %"


class Currency(models.Model):
    """A currency quotes may be written in; the first is the firm's own."""

    code = models.CharField(_("code"), max_length=3, unique=True)
    symbol = models.CharField(_("symbol"), max_length=4)
    name = models.CharField(_("name"), max_length=20)  # stands before the amount in words
    name_en = models.CharField(max_length=40)  # stands after the English words
    position = models.PositiveSmallIntegerField(default=0)

    objects = VouchedQuerySet.as_manager()

    class Meta:
        ordering = ["position", "code"]

    def __str__(self) -> str:
        return f"{self.code} {local(self.name, self.name_en)}"


class TaxRateQuerySet(VouchedQuerySet):
    def valid_on(self, day: date) -> "TaxRateQuerySet":
        return self.filter(valid_from__lte=day).filter(
            models.Q(valid_to=None) | models.Q(valid_to__gte=day))


class TaxRate(models.Model):
    """A rate of value-added tax with its period of validity (DOMAIN 9.4)."""

    rate = models.DecimalField(_("tax rate"), max_digits=5, decimal_places=4)
    name = models.CharField(_("name"), max_length=80)
    name_en = models.CharField(max_length=80, blank=True)
    valid_from = models.DateField(_("valid from"))
    valid_to = models.DateField(_("valid to"), null=True, blank=True)
    is_default = models.BooleanField(default=False)

    objects = TaxRateQuerySet.as_manager()

    class Meta:
        ordering = ["-is_default", "-rate"]

    def __str__(self) -> str:
        return f"{Decimal(self.rate * 100).normalize():f} % {local(self.name, self.name_en)}"
