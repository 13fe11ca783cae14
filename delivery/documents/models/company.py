"""The firm whose documents these are, and the currencies that their amounts are in."""


from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.engagement import localized


class CompanyProfile(models.Model):
    """The firm's own particulars, party B (乙方), as every document prints them."""

    name = models.CharField(_("registered name"), max_length=160)
    name_en = models.CharField(_("English name"), max_length=160, blank=True)
    credit_code = models.CharField(_("unified social credit code"), max_length=18, blank=True)
    address = models.CharField(_("address"), max_length=240, blank=True)
    address_en = models.CharField(_("address (English)"), max_length=240, blank=True)
    phone = models.CharField(_("phone"), max_length=40, blank=True)
    email = models.EmailField(_("e-mail"), blank=True)
    contact_name = models.CharField(_("contact"), max_length=80, blank=True)
    contact_name_en = models.CharField(_("contact (English)"), max_length=80, blank=True)
    bank = models.CharField(_("bank"), max_length=120, blank=True)
    bank_account = models.CharField(_("account number"), max_length=40, blank=True)

    objects = AuditedQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    @classmethod
    def current(cls) -> "CompanyProfile":
        """The stored profile, or an empty one."""
        return cls.objects.first() or cls()


class Currency(models.Model):
    """A currency quotes may be written in; the first is the firm's own."""

    code = models.CharField(_("code"), max_length=3, unique=True)
    symbol = models.CharField(_("symbol"), max_length=4)
    name = models.CharField(_("name"), max_length=20)  # stands before the amount in words
    name_en = models.CharField(max_length=40)  # stands after the English words
    position = models.PositiveSmallIntegerField(default=0)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["position", "code"]

    def __str__(self) -> str:
        return f"{self.code} {localized(self.name, self.name_en)}"
