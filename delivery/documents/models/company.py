"""The firm whose documents these are, and the currencies that their amounts are in."""


from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.engagement import localized

# GB 32100-2015: 17 characters, each weighted by a power of 3, and a check character modulo 31.
ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"
BODY_LENGTH = 17


def check_character(body: str) -> str:
    """The 18th character of a unified social credit code (GB 32100-2015)."""
    weighted = sum(ALPHABET.index(c) * pow(3, n, 31) for n, c in enumerate(body))
    return ALPHABET[-weighted % 31]


def is_credit_code(code: str) -> bool:
    """Whether a unified social credit code (统一社会信用代码) has the right form and check."""
    body, last = code[:BODY_LENGTH], code[BODY_LENGTH:]
    return (len(body) == BODY_LENGTH and len(last) == 1 and set(code) <= set(ALPHABET)
            and check_character(body) == last)


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
