"""Stored evidence bundles."""

from django.db import models

from delivery.acceptance.models.contract_terms import EngagementRowsQuerySet
from delivery.reports.models import Document
from engagements.models import Engagement


class EvidenceBundle(models.Model):
    """A stored evidence zip."""

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="bundles")
    document = models.ForeignKey(Document, models.PROTECT, null=True, blank=True,
                                 related_name="bundles")
    file = models.FileField(upload_to="bundles/%Y/%m", max_length=300)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    is_practice = models.BooleanField(default=False)
    # The signature of its list of checksums; empty where nobody signed it.
    signer = models.CharField(max_length=240, blank=True)
    fingerprint = models.CharField(max_length=64, blank=True)  # SHA-256 of the certificate
    stamped_at = models.DateTimeField(null=True, blank=True)
    withheld = models.PositiveIntegerField(default=0)  # raw files included as checksum only
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EngagementRowsQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
