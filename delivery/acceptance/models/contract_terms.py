from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.acceptance.models.review import Review
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of


class EngagementRowsQuerySet(AuditedQuerySet):
    """Rows whose engagement the columns `engagement_path` lead to."""

    engagement_path = "engagement"

    def visible_to(self, user) -> "EngagementRowsQuerySet":
        return self.filter(in_engagements_of(user, self.engagement_path))


class AcceptanceTerms(models.Model):
    """Acceptance terms of the contract: phases, periods, deemed acceptance."""

    engagement = models.OneToOneField(Engagement, models.CASCADE,
                                      related_name="acceptance_terms")
    has_preliminary = models.BooleanField(
        _("provisional acceptance, trial period, then final acceptance"), default=False)
    trial_days = models.PositiveSmallIntegerField(_("trial period (days)"), default=0)
    review_days = models.PositiveSmallIntegerField(_("review period (days)"), null=True,
                                                   blank=True)
    is_deemed = models.BooleanField(
        _("the contract says that silence until the deadline counts as acceptance"),
        default=False)
    clause = models.CharField(_("clause of the contract"), max_length=200, blank=True)
    needs_power = models.BooleanField(
        _("who signs for the customer needs a recorded power of attorney"), default=False)
    needs_third_party = models.BooleanField(
        _("acceptance needs a test report of an accredited laboratory (CNAS or CMA)"),
        default=False)

    warranty_months = models.PositiveSmallIntegerField(
        _("warranty (months from the final acceptance)"), null=True, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(is_deemed=False)
                | (~models.Q(clause="") & models.Q(review_days__gte=1)),
                name="deemed_acceptance_names_clause_and_period"),
        ]


class NoticeProof(models.Model):
    """Proof that the customer was given notice that the document awaits review."""

    class Channel(models.TextChoices):
        EMAIL = "email", _("e-mail with confirmation of receipt")
        COURIER = "courier", _("courier with receipt")
        REGISTERED = "registered", _("registered post")
        HAND = "hand", _("by hand against signature")

    review = models.ForeignKey(Review, models.PROTECT, related_name="notice_proofs")
    channel = models.CharField(_("how it was delivered"), max_length=12, choices=Channel)
    addressee = models.CharField(_("addressee"), max_length=120)
    reference = models.CharField(_("receipt or tracking number"), max_length=120)
    delivered_on = models.DateField(_("delivered on"))
    file = models.FileField(upload_to="notices/%Y/%m", max_length=300, blank=True)
    file_name = models.CharField(max_length=160, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["delivered_on", "pk"]


class PowerOfAttorney(models.Model):
    """Who may sign for the customer, in what capacity and until when (DOMAIN 9.13)."""

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="powers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+",
                             verbose_name=_("who may sign"))
    capacity = models.CharField(_("capacity"), max_length=80)
    granted_by = models.CharField(_("granted by"), max_length=120)
    valid_from = models.DateField(_("valid from"))
    valid_until = models.DateField(_("valid until"), null=True, blank=True)
    file = models.FileField(upload_to="powers/%Y/%m", max_length=300)
    file_name = models.CharField(max_length=160)
    sha256 = models.CharField(max_length=64)
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                 related_name="+")
    end_reason = models.CharField(_("reason"), max_length=400, blank=True)

    objects = EngagementRowsQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(valid_until=None)
                | models.Q(valid_until__gte=models.F("valid_from")),
                name="power_ends_after_it_begins"),
            models.CheckConstraint(condition=models.Q(ended_at=None) | ~models.Q(end_reason=""),
                                   name="ended_power_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.capacity}"

    def is_valid_on(self, day) -> bool:
        """Whether it is valid on this day."""
        return self.ended_at is None and self.valid_from <= day and (
            self.valid_until is None or day <= self.valid_until)
