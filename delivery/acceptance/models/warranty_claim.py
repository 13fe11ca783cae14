from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.acceptance.models.contract_terms import EngagementRowsQuerySet
from engagements.models import Engagement, MigratedModel
from workers.models import Job


class WarrantyClaim(models.Model):
    """A defect that is claimed after the final acceptance, its repair and the run that shows it."""

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="warranty_claims")
    number = models.PositiveIntegerField(_("number"))
    model = models.ForeignKey(MigratedModel, models.PROTECT, null=True, blank=True,
                              related_name="+", verbose_name=_("model"))
    description = models.TextField(_("what is wrong"))
    found_on = models.DateField(_("found on"))
    is_covered = models.BooleanField(_("within the warranty"))
    raised_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                              related_name="+", verbose_name=_("who works on it"))
    raised_at = models.DateTimeField(auto_now_add=True)
    report = models.CharField(_("what was repaired"), max_length=400, blank=True)
    regression = models.ForeignKey(Job, models.PROTECT, null=True, blank=True, related_name="+",
                                   verbose_name=_("run that shows it"))
    reported_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    reported_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                  related_name="+")
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = EngagementRowsQuerySet.as_manager()

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "number"], name="claim_number_unique"),
            models.CheckConstraint(
                condition=models.Q(reported_at=None) | models.Q(regression__isnull=False),
                name="repaired_claim_names_its_run"),
            models.CheckConstraint(
                condition=models.Q(closed_at=None) | models.Q(reported_at__isnull=False),
                name="closed_claim_was_repaired"),
        ]

    def __str__(self) -> str:
        return f"WC-{self.engagement.code}-{self.number:02}"
