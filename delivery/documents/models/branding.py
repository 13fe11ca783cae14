from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Customer

SEAL = [MinValueValidator(30), MaxValueValidator(60)]


class BrandingVersion(models.Model):
    """A version of document branding, of the firm or for one customer. Never changed once made.

    What is empty for a customer is as the firm has it.
    """

    class Cover(models.TextChoices):
        RULE = "rule", _("Rule: title below a line, set left")
        BAND = "band", _("Band: title on a coloured band")
        FORMAL = "formal", _("Formal: all centred between two lines")

    customer = models.ForeignKey(Customer, models.PROTECT, null=True, blank=True,
                                 related_name="branding_versions")
    version = models.PositiveIntegerField(_("version"))
    colour = models.CharField(_("colour of headings and lines"), max_length=7, blank=True)
    accent = models.CharField(_("second colour, of the cover"), max_length=7, blank=True)
    cover = models.CharField(_("cover"), max_length=8, choices=Cover, blank=True)
    header_zh = models.CharField(_("text in the head of pages (Chinese)"), max_length=40,
                                 blank=True)
    header_en = models.CharField(_("text in the head of pages (English)"), max_length=60,
                                 blank=True)
    confidentiality_zh = models.CharField(_("confidentiality (Chinese)"), max_length=20,
                                          blank=True)
    confidentiality_en = models.CharField(_("confidentiality (English)"), max_length=40,
                                          blank=True)
    seal_mm = models.PositiveSmallIntegerField(_("diameter of the seal area (mm)"), null=True,
                                               blank=True, validators=SEAL)
    logo = models.BinaryField(_("our logo"), null=True, blank=True)  # PNG, see `branding.logos`
    partner_logo = models.BinaryField(_("customer's logo, beside ours"), null=True, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["customer", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["customer", "version"],
                                    name="customer_identity_version_unique"),
            models.UniqueConstraint(fields=["version"], condition=models.Q(customer=None),
                                    name="firm_identity_version_unique"),
            models.CheckConstraint(
                condition=models.Q(customer__isnull=False) | models.Q(partner_logo__isnull=True),
                name="only_a_customer_has_a_logo_beside_ours"),
        ]

    def __str__(self) -> str:
        return f"{self.customer or _('Our company')} · {self.version}"
