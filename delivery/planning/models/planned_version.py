from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.planning.models.base import SharedQuerySet
from engagements.models import Engagement

LONGEST = 120  # characters of a planned value


class PlannedVersion(models.Model):
    """What the parties plan to run on: one item of the target environment and its value.

    `item` is a key of an environment (`assessments.labels.environments`), as probes name it.
    """

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="planned_versions")
    item = models.CharField(_("environment item"), max_length=40)
    value = models.CharField(_("planned value"), max_length=LONGEST)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    set_at = models.DateTimeField()

    objects = SharedQuerySet.as_manager()

    class Meta:
        ordering = ["engagement", "item"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "item"],
                                    name="one_planned_value_per_item"),
            models.CheckConstraint(condition=~models.Q(value=""),
                                   name="planned_value_is_said"),
        ]

    def __str__(self) -> str:
        return f"{self.item} {self.value}"
