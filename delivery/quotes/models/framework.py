"""Framework contracts: prices and terms agreed once, from which engagements call off."""

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.quotes.models.prices import Dated, RateCard
from engagements.models import Customer


class FrameworkContract(Dated):
    """With one customer; quotes that are called off from it hold the prices of its list, its
    discount and its terms.

    Attributes:
        terms: the quote whose payment, invoice and written terms were agreed; None for the
            firm's standard ones.
        ceiling: what all call-offs come to at most, incl. tax, in the price list's currency; None
            where none is agreed.
    """

    customer = models.ForeignKey(Customer, models.PROTECT, related_name="framework_contracts",
                                 verbose_name=_("customer"))
    number = models.CharField(_("contract number"), max_length=60, unique=True)
    name = models.CharField(_("name"), max_length=120)
    valid_from = models.DateField(_("valid from"))
    valid_to = models.DateField(_("valid to"), null=True, blank=True)
    card = models.ForeignKey(RateCard, models.PROTECT, related_name="framework_contracts",
                             verbose_name=_("price list"))
    discount_rate = models.DecimalField(_("discount"), max_digits=6, decimal_places=4,
                                        default=Decimal(0))
    ceiling = models.DecimalField(_("ceiling incl. tax"), max_digits=16, decimal_places=2,
                                  null=True, blank=True)
    terms = models.ForeignKey("quotes.Quote", models.PROTECT, null=True, blank=True,
                              related_name="+", verbose_name=_("terms as in the quote"))
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-valid_from", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(valid_to=None) | models.Q(valid_to__gte=models.F("valid_from")),
                name="framework_ends_after_start"),
            models.CheckConstraint(
                condition=models.Q(discount_rate__gte=0, discount_rate__lt=1),
                name="framework_discount_is_a_fraction"),
            models.CheckConstraint(condition=models.Q(ceiling=None) | models.Q(ceiling__gt=0),
                                   name="framework_ceiling_above_zero")]

    def __str__(self) -> str:
        return f"{self.number} {self.name}"
