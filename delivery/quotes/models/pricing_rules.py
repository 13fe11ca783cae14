from datetime import date
from decimal import Decimal

from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Role
from engagements.models.engagement import localized


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


class TaxRateQuerySet(AuditedQuerySet):
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
        return f"{Decimal(self.rate * 100).normalize():f} % {localized(self.name, self.name_en)}"
