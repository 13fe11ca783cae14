from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Customer


class StandardText(models.Model):
    """A standard text that the firm changed, for all customers or one; new drafts start with it."""

    code = models.CharField(_("passage"), max_length=60)
    customer = models.ForeignKey(Customer, models.CASCADE, null=True, blank=True,
                                 related_name="standard_texts")
    zh = models.TextField(_("Chinese text"), max_length=8000)
    en = models.TextField(_("English text"), max_length=8000, blank=True)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(fields=["code", "customer"],
                                    name="one_wording_per_customer"),
            models.UniqueConstraint(fields=["code"], condition=models.Q(customer=None),
                                    name="one_wording_of_the_firm"),
        ]

    def __str__(self) -> str:
        return self.code
