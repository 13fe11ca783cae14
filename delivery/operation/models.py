"""What re-reading the stored files found, and which evidence the object store holds locked."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from delivery.reports.models import Document
from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet


class OperatorsRowsQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "OperatorsRowsQuerySet":
        """For those who run the desk; not with a token of one engagement."""
        may = allowed(user, Can.OPERATE) and not user.only_engagement_id
        return self if may else self.none()


class FileRound(models.Model):
    """One walk through all stored files. `column` and `after` say how far it is."""

    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    is_open = models.BooleanField(default=True)
    column = models.CharField(max_length=80, blank=True)  # label of table and field
    after = models.CharField(max_length=300, blank=True)  # name of the file that was read last
    next_at = models.DateTimeField()  # the rate lets it go on then
    claimed_until = models.DateTimeField(null=True, blank=True)
    files = models.PositiveIntegerField(default=0)
    bytes = models.PositiveBigIntegerField(default=0)
    unproven = models.PositiveIntegerField(default=0)  # of these no checksum is recorded

    objects = OperatorsRowsQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["is_open"], condition=models.Q(is_open=True),
                                               name="one_open_file_round")]


class DamagedFileQuerySet(OperatorsRowsQuerySet):
    def open(self) -> "DamagedFileQuerySet":
        """Those that were not found sound again."""
        return self.filter(healed_at=None)


class DamagedFile(models.Model):
    """A stored file that is not what its row says."""

    class Fault(models.TextChoices):
        MISSING = "missing", _("missing")
        CHANGED = "changed", pgettext_lazy("of a file", "changed")
        UNREADABLE = "unreadable", _("unreadable")

    name = models.CharField(_("name"), max_length=300)  # in the artifact store
    fault = models.CharField(_("fault"), max_length=12, choices=Fault)
    cause = models.CharField(max_length=240, blank=True)
    sha256 = models.CharField("SHA-256", max_length=64, blank=True)  # as recorded
    found_sha256 = models.CharField(max_length=64, blank=True)
    found_at = models.DateTimeField(_("found at"))
    seen_at = models.DateTimeField()  # looked at last
    healed_at = models.DateTimeField(null=True, blank=True)

    objects = DamagedFileQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(
            fields=["name"], condition=models.Q(healed_at=None), name="one_open_damage_per_file")]

    def __str__(self) -> str:
        return self.name


class EvidenceLock(models.Model):
    """An issued document whose raw files the object store keeps from being changed or removed."""

    document = models.OneToOneField(Document, models.PROTECT, related_name="evidence_lock")
    locked_at = models.DateTimeField()
    until = models.DateTimeField()
    files = models.PositiveIntegerField()

    class Meta:
        ordering = ["-pk"]
