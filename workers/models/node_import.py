from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from workers.models.node import Node


class NodeImportQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "NodeImportQuerySet":
        """Imports are the operators' work."""
        return self if allowed(user, Can.OPERATE) else self.none()


class NodeImport(models.Model):
    """An uploaded inventory: what it says, without secrets, until it has become nodes."""

    file_name = models.CharField(_("file"), max_length=160)
    sha256 = models.CharField(max_length=64)
    format = models.CharField(max_length=8)
    entries = models.JSONField(default=list)  # [place, {name in the file: text}]
    username = models.CharField(_("user"), max_length=60, blank=True)
    secrets = models.JSONField(default=list)  # names of what was left out
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    applied_at = models.DateTimeField(null=True, editable=False)

    objects = NodeImportQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.file_name


class ImportedNode(models.Model):
    """How far the first look at a node of an import is."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        LOOKING = "looking", _("Being asked")
        TO_CONFIRM = "to_confirm", _("Fingerprint to compare")
        READY = "ready", _("Ready")
        FAILED = "failed", _("Not reached")

    source = models.ForeignKey(NodeImport, models.CASCADE, related_name="nodes")
    node = models.OneToOneField(Node, models.CASCADE, related_name="imported")
    place = models.CharField(max_length=60)
    fingerprint = models.CharField(max_length=60, blank=True)  # as the file gives it
    state = models.CharField(max_length=12, choices=State, default=State.WAITING)
    cause = models.CharField(max_length=400, blank=True)
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    related_name="+")
    looked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["pk"]
