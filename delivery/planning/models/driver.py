from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.planning.effort_choices import DriverCode
from delivery.planning.models.base import InternalQuerySet
from engagements.models import MigratedModel


class DriverQuerySet(InternalQuerySet):
    engagement_path = "model__engagement"


class EffortDriver(models.Model):
    """A stated fact of a model that its estimate takes into account; `amount` is its count."""

    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="effort_drivers")
    code = models.CharField(_("driver"), max_length=16, choices=DriverCode)
    amount = models.DecimalField(_("amount"), max_digits=9, decimal_places=1)
    source = models.CharField(_("source"), max_length=80, blank=True)

    objects = DriverQuerySet.as_manager()

    class Meta:
        ordering = ["model", "code"]
        constraints = [
            models.UniqueConstraint(fields=["model", "code"], name="driver_once_per_model"),
            models.CheckConstraint(condition=models.Q(amount__gt=0),
                                   name="driver_amount_above_zero")]

    def __str__(self) -> str:
        return f"{self.model.code} · {self.get_code_display()}"
