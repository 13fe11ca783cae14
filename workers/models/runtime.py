from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement, MigratedModel
from workers.models.node import Node


class RuntimePlace(models.TextChoices):
    """Where a job's command runs."""

    HOST = "host", _("The node itself")
    CONTAINER = "container", _("A new container")
    RUNNING = "running", _("A running container")


IN_CONTAINERS = (RuntimePlace.CONTAINER, RuntimePlace.RUNNING)


class RuntimeQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "RuntimeQuerySet":
        """Runtimes belong to the firm, as its nodes do."""
        return self if allowed(user, Can.VIEW_INTERNAL) else self.none()

    def in_use(self) -> "RuntimeQuerySet":
        return self.filter(retired_at=None)


class Runtime(models.Model):
    """What surrounds a job's command: set-up scripts, an environment, variables.

    A job keeps the runtime as it was when it was queued; a later change leaves it alone.
    """

    name = models.CharField(_("name"), max_length=80, unique=True)
    place = models.CharField(_("runs in"), max_length=12, choices=RuntimePlace,
                             default=RuntimePlace.HOST)
    options = models.JSONField(default=dict, blank=True)  # see workers.runtimes.options
    retired_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = RuntimeQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class RuntimeChoiceQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "RuntimeChoiceQuerySet":
        """Choices of nodes, and those of visible engagements, for the firm's people."""
        if not allowed(user, Can.VIEW_INTERNAL):
            return self.none()
        mine = Engagement.objects.visible_to(user)
        return self.filter(models.Q(engagement=None, model=None) | models.Q(engagement__in=mine)
                           | models.Q(model__engagement__in=mine))


class RuntimeChoice(models.Model):
    """The runtime of jobs of a model or an engagement, on one node or on any; or of a node."""

    runtime = models.ForeignKey(Runtime, models.PROTECT, related_name="choices",
                                verbose_name=_("runtime"))
    node = models.ForeignKey(Node, models.CASCADE, null=True, blank=True,
                             related_name="runtime_choices", verbose_name=_("node"))
    engagement = models.ForeignKey(Engagement, models.CASCADE, null=True, blank=True,
                                   related_name="runtime_choices", verbose_name=_("engagement"))
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="runtime_choices", verbose_name=_("model"))

    objects = RuntimeChoiceQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(node__isnull=False) | models.Q(engagement__isnull=False)
                | models.Q(model__isnull=False), name="runtime_choice_is_for_something"),
            models.CheckConstraint(
                condition=models.Q(engagement__isnull=True) | models.Q(model__isnull=True),
                name="runtime_choice_by_engagement_or_model"),
            models.UniqueConstraint(
                Coalesce("node", 0), Coalesce("engagement", 0), Coalesce("model", 0),
                name="one_runtime_per_place"),
        ]

    def __str__(self) -> str:
        return str(self.runtime)


class RuntimeSoftware(models.Model):
    """Versions that jobs in a runtime last read on a node; those of the node itself are its own."""

    runtime = models.ForeignKey(Runtime, models.CASCADE, related_name="software")
    node = models.ForeignKey(Node, models.CASCADE, related_name="runtime_software")
    versions = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["runtime", "node"]
        constraints = [
            models.UniqueConstraint(fields=["runtime", "node"], name="one_software_per_runtime"),
        ]

    def __str__(self) -> str:
        return f"{self.runtime} · {self.node}"
