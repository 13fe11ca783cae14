from django.db import models

from delivery.acceptance.models.contract_terms import EngagementRowsQuerySet
from engagements.models import Engagement
from engagements.models.stage_waiver import SignedWaiver


class BlockerWaiverQuerySet(EngagementRowsQuerySet):
    def open(self) -> "BlockerWaiverQuerySet":
        """Not revoked, whether signed or not."""
        return self.filter(revoked_at=None)

    def in_force(self, engagement: Engagement) -> "BlockerWaiverQuerySet":
        """Those that the customer signed."""
        return self.open().filter(engagement=engagement, signed_at__isnull=False)

    def codes_in_force(self, engagement: Engagement) -> frozenset[str]:
        """What the customer lets pass by them."""
        return frozenset().union(*(row.codes for row in self.in_force(engagement)))


class BlockerWaiver(SignedWaiver):
    """The customer lets the final acceptance pass without conditions in spite of what is named."""

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="blocker_waivers")

    objects = BlockerWaiverQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(
            condition=models.Q(signed_at=None, signed_by=None)
            | (models.Q(signed_at__isnull=False) & ~models.Q(content_hash="")
               & ~models.Q(signed_by=models.F("drafted_by"))),
            name="blocker_waiver_signed_by_another")]

    def __str__(self) -> str:
        return f"WA-{self.engagement.code}-{self.pk}"
