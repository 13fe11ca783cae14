from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.acceptance.models.contract_terms import EngagementRowsQuerySet
from engagements.models import Engagement
from workers.models import Artifact


class ThirdPartyReportQuerySet(EngagementRowsQuerySet):
    def in_force(self) -> "ThirdPartyReportQuerySet":
        return self.filter(withdrawn_at=None).select_related("artifact")


class ThirdPartyReport(models.Model):
    """A test report of an accredited laboratory, kept as evidence (DOMAIN AR-20)."""

    engagement = models.ForeignKey(Engagement, models.PROTECT,
                                   related_name="third_party_reports")
    artifact = models.OneToOneField(Artifact, models.PROTECT, related_name="third_party_report")
    laboratory = models.CharField(_("laboratory"), max_length=160)
    cnas_number = models.CharField(_("CNAS accreditation number"), max_length=40, blank=True)
    cma_number = models.CharField(_("CMA certificate number"), max_length=40, blank=True)
    report_number = models.CharField(_("report number"), max_length=80)
    issued_on = models.DateField(_("date of the report"))
    scope = models.TextField(_("what was tested"))
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                     blank=True, related_name="+")
    withdrawal = models.CharField(_("reason"), max_length=400, blank=True)

    objects = ThirdPartyReportQuerySet.as_manager()

    class Meta:
        ordering = ["issued_on", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["engagement", "laboratory", "report_number"],
                condition=models.Q(withdrawn_at=None), name="third_party_report_once"),
            models.CheckConstraint(
                condition=~models.Q(cnas_number="") | ~models.Q(cma_number=""),
                name="third_party_report_names_accreditation"),
            models.CheckConstraint(
                condition=models.Q(withdrawn_at=None) | ~models.Q(withdrawal=""),
                name="withdrawn_report_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.laboratory} {self.report_number}"

    @property
    def accreditations(self) -> str:
        """CNAS and CMA numbers, as documents print them."""
        numbers = (("CNAS", self.cnas_number), ("CMA", self.cma_number))
        return "\n".join(f"{mark} {number}" for mark, number in numbers if number)
