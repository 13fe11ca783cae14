"""What people sign beside a verdict: confirmations, waivers, accepted differences."""

from datetime import date

from django.conf import settings
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assessments.models.criteria import (
    Baseline,
    CriteriaSet,
    Criterion,
    OfEngagementQuerySet,
)
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from workers.models import Artifact


class Side(models.TextChoices):
    FIRM = "firm", _("Supplier")
    CUSTOMER = "customer", _("Customer")


class Confirmation(models.Model):
    """One side confirms a sheet as it stands: its hash says what was confirmed (DOMAIN AR-02).

    The customer's own log-in, or the scan of a sheet signed on paper: then `signatory` is the
    name on it, and `confirmed_by` who entered it.
    """

    criteria_set = models.ForeignKey(CriteriaSet, models.CASCADE, null=True, blank=True,
                                     related_name="confirmations")
    baseline = models.ForeignKey(Baseline, models.CASCADE, null=True, blank=True,
                                 related_name="confirmations")
    side = models.CharField(_("side"), max_length=8, choices=Side)
    content_hash = models.CharField(max_length=64)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    signatory = models.CharField(_("signed for the customer by"), max_length=120, blank=True)
    scan = models.ForeignKey(Artifact, models.PROTECT, null=True, blank=True, related_name="+",
                             verbose_name=_("scan of the signed sheet"))
    confirmed_at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(criteria_set__isnull=False, baseline__isnull=True)
                | models.Q(criteria_set__isnull=True, baseline__isnull=False),
                name="confirmation_of_one_sheet"),
            models.CheckConstraint(
                condition=models.Q(scan=None, signatory="")
                | models.Q(scan__isnull=False, side="customer") & ~models.Q(signatory=""),
                name="scan_names_the_customers_signatory"),
            models.UniqueConstraint(fields=["criteria_set", "side", "content_hash"],
                                    name="criteria_confirmed_once_per_side"),
            models.UniqueConstraint(fields=["baseline", "side", "content_hash"],
                                    name="baseline_confirmed_once_per_side"),
        ]

    def __str__(self) -> str:
        if self.scan_id is None:
            return str(self.confirmed_by)
        return gettext("%(name)s (signed sheet #%(file)s, entered by %(who)s)") % {
            "name": self.signatory, "file": self.scan_id, "who": self.confirmed_by}


class BaselineRun(models.Model):
    """One run of a baseline. Those from before the freeze make its spread (DOMAIN AR-04)."""

    baseline = models.ForeignKey(Baseline, models.CASCADE, related_name="runs")
    artifact = models.ForeignKey(Artifact, models.PROTECT, related_name="baseline_runs")
    value = models.FloatField(_("value"))
    is_remeasurement = models.BooleanField(default=False)
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    recorded_at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["baseline", "artifact"],
                                               name="one_run_per_baseline_and_file")]


class WaiverQuerySet(OfEngagementQuerySet):
    engagement_path = "criterion__criteria_set__engagement"

    def in_force(self, today: date) -> "WaiverQuerySet":
        return self.filter(revoked_at=None, expires_on__gte=today).exclude(signed_at=None)

    def to_sign(self, today: date) -> "WaiverQuerySet":
        """Drafts that a second person has yet to sign."""
        return self.filter(revoked_at=None, expires_on__gte=today, signed_at=None)


class Waiver(models.Model):
    """A stage may pass in spite of a verdict: one person drafts, a manager signs. The verdict stays
    as computed."""

    criterion = models.ForeignKey(Criterion, models.CASCADE, related_name="waivers")
    verdict = models.ForeignKey("assessments.Verdict", models.PROTECT, related_name="waivers")
    reason = models.TextField(_("reason"))
    scope = models.CharField(_("scope"), max_length=240)
    expires_on = models.DateField(_("valid until"))
    content_hash = models.CharField(max_length=64, blank=True)
    # Empty on waivers of 1.0, which one person wrote and signed.
    drafted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                   blank=True, related_name="+")
    drafted_at = models.DateTimeField(null=True, blank=True)
    signed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                  related_name="+")
    signed_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                   blank=True, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = WaiverQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["criterion"], condition=models.Q(revoked_at=None),
                                    name="one_open_waiver_per_criterion"),
            models.CheckConstraint(
                condition=models.Q(signed_at=None, signed_by=None, drafted_by__isnull=False)
                | (models.Q(signed_at__isnull=False, signed_by__isnull=False)
                   & ~models.Q(content_hash="")
                   & (models.Q(drafted_by=None) | ~models.Q(signed_by=models.F("drafted_by")))),
                name="waiver_signed_by_another"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion} – {self.expires_on}"


class AcceptedDifference(models.Model):
    """A difference of the two environments that a person accepts (DOMAIN AR-05, R-ACC-02)."""

    engagement = models.ForeignKey(Engagement, models.CASCADE,
                                   related_name="accepted_differences")
    item = models.CharField(_("item"), max_length=80)
    baseline_value = models.CharField(_("baseline"), max_length=240, blank=True)
    candidate_value = models.CharField(_("NPU run"), max_length=240, blank=True)
    reason = models.CharField(_("reason"), max_length=240)
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    accepted_at = models.DateTimeField(auto_now_add=True)

    objects = OfEngagementQuerySet.as_manager()

    class Meta:
        ordering = ["item", "pk"]
        constraints = [models.UniqueConstraint(
            fields=["engagement", "item", "baseline_value", "candidate_value"],
            name="difference_accepted_once")]

    def __str__(self) -> str:
        return f"{self.item}: {self.baseline_value} → {self.candidate_value}"
