"""The reviewed allow-list of configuration differences (DOMAIN R-ACC-02)."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.models.criteria import OfEngagementQuerySet
from engagements.models import Engagement


class AllowedDifference(models.Model):
    """A difference of environment or packages that is proposed, and that another person reviews.

    `item` may end in `*`. Without values it allows any value of the item.
    """

    class Sheet(models.TextChoices):
        """Only these differ by nature; everything else must match."""

        ENV = "env", _("Environment variables")
        PIP = "pip", _("Python packages")

    engagement = models.ForeignKey(Engagement, models.CASCADE,
                                   related_name="allowed_differences")
    sheet = models.CharField(_("sheet"), max_length=4, choices=Sheet)
    item = models.CharField(_("item"), max_length=160)
    is_any_value = models.BooleanField(_("any value"), default=False)
    bench_value = models.CharField(_("baseline"), max_length=240, blank=True)
    npu_value = models.CharField(_("NPU run"), max_length=240, blank=True)
    reason = models.CharField(_("reason"), max_length=240)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(auto_now_add=True)
    reviewed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    reviewed_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                     blank=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = OfEngagementQuerySet.as_manager()

    class Meta:
        ordering = ["sheet", "item", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["engagement", "sheet", "item", "is_any_value", "bench_value",
                        "npu_value"],
                condition=models.Q(withdrawn_at=None), name="difference_allowed_once"),
            models.CheckConstraint(
                condition=models.Q(reviewed_by=None) | ~models.Q(reviewed_by=models.F(
                    "proposed_by")), name="allow_list_reviewed_by_another"),
        ]

    def __str__(self) -> str:
        return f"{self.sheet}: {self.item}"

    @property
    def state(self) -> str:
        """withdrawn, allowed or proposed."""
        if self.withdrawn_at:
            return "withdrawn"
        return "allowed" if self.reviewed_at else "proposed"
