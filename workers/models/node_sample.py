from django.conf import settings
from django.db import models
from django.utils.translation import gettext
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


class DiskSample(models.Model):
    """What was used by jobs and free on the disk of a node's scratch folder."""

    node = models.ForeignKey(Node, models.CASCADE, related_name="disk_samples")
    at = models.DateTimeField()
    used_mb = models.PositiveIntegerField()
    free_mb = models.PositiveIntegerField()

    objects = SampleQuerySet.as_manager()

    class Meta:
        ordering = ["at"]
        indexes = [models.Index(fields=["node", "at"], name="disk_by_node_and_time")]


class CardAlarm(models.Model):
    """Something wrong with a card, or without `card_index` with a node, from the first look that
    showed it to the last."""

    class Kind(models.TextChoices):
        HEALTH = "health", _("Health")
        ECC = "ecc", _("Memory errors")
        HEAT = "heat", _("Temperature")
        LINK = "link", _("Network port")
        DISK = "disk", _("Disk")
        CLOCK = "clock", _("Clock")
        AWAY = "away", _("No contact")
        SOFTWARE = "software", _("Software differs")
        NO_END = "no_end", _("Maintenance without end")

    node = models.ForeignKey(Node, models.CASCADE, related_name="card_alarms")
    card_index = models.PositiveSmallIntegerField(_("card"), null=True)
    kind = models.CharField(max_length=8, choices=Kind)
    value = models.CharField(max_length=60)
    since = models.DateTimeField()
    seen_at = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True,
                                        related_name="+")
    # Until then nobody is told and no list is red; the card is leased to nobody all the same.
    silenced_until = models.DateTimeField(null=True)
    note = models.CharField(max_length=160, blank=True, default="", db_default="")

    objects = SampleQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["node", "card_index", "kind"], condition=models.Q(cleared_at__isnull=True),
                name="one_open_alarm_per_card_and_kind"),
            models.UniqueConstraint(
                fields=["node", "kind"], name="one_open_alarm_per_node_and_kind",
                condition=models.Q(cleared_at__isnull=True, card_index__isnull=True))]

    @property
    def place(self) -> str:
        """Which card it is of; empty for one of the node."""
        return "" if self.card_index is None else gettext("Card %(n)d") % {"n": self.card_index}

    @classmethod
    def open_anew(cls, *, node: Node, card_index: int | None, kind: str, value: str, at) -> None:
        """One that comes again stays silent for as long as was said."""
        silent = cls.objects.filter(node=node, card_index=card_index, kind=kind,
                                    silenced_until__gt=at).first()
        cls.objects.create(
            node=node, card_index=card_index, kind=kind, value=value, since=at, seen_at=at,
            silenced_until=silent and silent.silenced_until, note=silent.note if silent else "")
