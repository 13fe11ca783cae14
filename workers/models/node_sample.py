from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from workers.models.node import Node

# Columns of one card in `NodeSample.cards`, behind its index.
CARD_VALUES = ("utilisation", "memory_mb", "power_w", "temperature_c")


class SampleQuerySet(models.QuerySet):
    def visible_to(self, user) -> "SampleQuerySet":
        """What nodes do is seen by the firm's people."""
        return self if allowed(user, Can.VIEW_INTERNAL) else self.none()


class NodeSample(models.Model):
    """What the cards and the host did at one moment, or on average over some seconds."""

    node = models.ForeignKey(Node, models.CASCADE, related_name="samples")
    at = models.DateTimeField()
    seconds = models.PositiveSmallIntegerField(default=0)  # that it is the mean of; 0: one moment
    cards = models.JSONField(default=dict)  # {index: values in the order of CARD_VALUES}
    load = models.FloatField(null=True)  # processes that run or wait, mean of one minute
    memory_mb = models.PositiveIntegerField(null=True)  # of the host, in use

    objects = SampleQuerySet.as_manager()

    class Meta:
        ordering = ["at"]
        indexes = [models.Index(fields=["node", "at"], name="sample_by_node_and_time")]


class CardAlarm(models.Model):
    """Something wrong with a card, from the first look that showed it to the last."""

    class Kind(models.TextChoices):
        HEALTH = "health", _("Health")
        ECC = "ecc", _("Memory errors")
        HEAT = "heat", _("Temperature")
        LINK = "link", _("Network port")

    node = models.ForeignKey(Node, models.CASCADE, related_name="card_alarms")
    card_index = models.PositiveSmallIntegerField(_("card"))
    kind = models.CharField(max_length=8, choices=Kind)
    value = models.CharField(max_length=60)
    since = models.DateTimeField()
    seen_at = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True)

    objects = SampleQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(
            fields=["node", "card_index", "kind"], condition=models.Q(cleared_at__isnull=True),
            name="one_open_alarm_per_card_and_kind")]
