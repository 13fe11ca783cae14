from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.reports.models import Document
from engagements.models import Engagement, MigratedModel


class Review(models.Model):
    """The customer's review of an issued acceptance document."""

    class Decision(models.TextChoices):
        ACCEPTED = "accepted", _("Passed")
        CONDITIONAL = "conditional", _("Passed with conditions")
        REJECTED = "rejected", _("Not passed")

    document = models.OneToOneField(Document, models.PROTECT, related_name="review")
    decision = models.CharField(_("decision"), max_length=12, choices=Decision, blank=True)
    reason = models.TextField(_("reason or conditions"), blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                   related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(decision="") | models.Q(decided_at__isnull=False),
                name="decision_has_time",
            )
        ]


class ReviewComment(models.Model):
    """A remark on the document, on a model or on one of its figures."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="comments")
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="+")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField(_("comment"))
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]


class Condition(models.Model):
    """An outstanding issue of a conditional acceptance (遗留问题)."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="conditions")
    description = models.CharField(_("outstanding issue"), max_length=400)
    owner = models.CharField(_("owner"), max_length=80)
    due_on = models.DateField(_("due date"))
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["due_on", "pk"]


class Signature(models.Model):
    """Who signed which bytes, when and from where."""

    review = models.ForeignKey(Review, models.PROTECT, related_name="signatures")
    signer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    name = models.CharField(_("name"), max_length=80)
    capacity = models.CharField(_("capacity"), max_length=80)
    signed_hash = models.CharField(max_length=64)
    ip_address = models.GenericIPAddressField(null=True, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at"]
        constraints = [
            models.UniqueConstraint(fields=["review", "signer"], name="sign_once_each")
        ]


class EvidenceBundle(models.Model):
    """A stored evidence zip."""

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="bundles")
    document = models.ForeignKey(Document, models.PROTECT, null=True, blank=True,
                                 related_name="bundles")
    file = models.FileField(upload_to="bundles/%Y/%m", max_length=300)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    is_practice = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
