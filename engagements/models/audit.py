from django.conf import settings
from django.db import models

from engagements.models.engagement import Engagement


class AuditChain(models.Model):
    """The head of the hash chain; locked while an entry is appended.

    The end has a seal of its own, see engagements.audit.audit_log.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    number = models.PositiveBigIntegerField(default=0)  # of the newest entry
    head = models.CharField(max_length=64, default="0" * 64)
    seal = models.CharField(max_length=64, default="", blank=True)
    end_number = models.PositiveBigIntegerField(default=0)  # the entry that `end_seal` was made at
    end_seal = models.CharField(max_length=64, default="", blank=True)
    older_until = models.DateTimeField(null=True)  # entries without end seals may follow until then

    def __str__(self) -> str:
        return f"{self.number} {self.head}"


class AuditEntryQuerySet(models.QuerySet):
    def visible_to(self, user) -> "AuditEntryQuerySet":
        """All of it for administrators, managers and the firm's auditors, that of their engagements
        for other auditors; nobody else reads the audit log."""
        if getattr(user, "sees_every_engagement", False):
            return self
        if not getattr(user, "is_auditor", False):
            return self.none()
        return self.filter(engagement__among=Engagement.objects.keys_visible_to(user))


class AuditEntry(models.Model):
    """Append-only, hash-chained record of every write (DOMAIN AR-12)."""

    at = models.DateTimeField()
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="audit_entries"
    )
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=60)
    target_id = models.CharField(max_length=40)
    target_label = models.CharField(max_length=240, blank=True)
    engagement = models.ForeignKey(
        Engagement, models.PROTECT, null=True, blank=True, related_name="audit_entries"
    )
    data = models.JSONField(default=dict, blank=True)
    # The rows written before it: {table: {key: {column: value}}}; see engagements.audit_rows.
    rows = models.JSONField(default=dict, blank=True)
    previous_hash = models.CharField(max_length=64)
    entry_hash = models.CharField(max_length=64, unique=True)
    seal = models.CharField(max_length=64)  # see engagements.audit.audit_log.entry_seal

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["action", "-id"], name="audit_by_action"),
            models.Index(fields=["at"], name="audit_by_time"),
            models.Index(fields=["actor", "-id"], name="audit_by_actor"),
            models.Index(fields=["engagement", "-id"], name="audit_by_engagement"),
            models.Index(fields=["target_type", "target_id"], name="audit_by_target"),
            models.Index(fields=["target_id", "-id"], name="audit_by_target_id"),
        ]
        verbose_name_plural = "audit entries"


class AuditArchiveQuerySet(models.QuerySet):
    def visible_to(self, user) -> "AuditArchiveQuerySet":
        """Whoever reads all of the audit log."""
        return self if getattr(user, "sees_every_engagement", False) else self.none()

    def of(self, engagement: Engagement) -> "AuditArchiveQuerySet":
        """Those with entries of an engagement, oldest first."""
        return self.filter(archived_engagements__engagement=engagement).order_by("first_number")


class AuditArchive(models.Model):
    """Entries of a month that were moved out of the table into a file of the artifact store.

    The file's first entry follows `previous_hash`; the next archive, or the oldest entry that is
    left in the table, follows `last_hash` and `seal`. See engagements.audit.archive_files.
    """

    month = models.DateField()  # its first day, UTC
    first_number = models.PositiveBigIntegerField(unique=True)
    last_number = models.PositiveBigIntegerField(unique=True)
    previous_hash = models.CharField(max_length=64)
    last_hash = models.CharField(max_length=64)
    seal = models.CharField(max_length=64)  # of the last entry, under today's AUDIT_KEY
    file = models.FileField(max_length=160)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField("SHA-256", max_length=64)
    made_at = models.DateTimeField()

    objects = AuditArchiveQuerySet.as_manager()

    class Meta:
        ordering = ["-first_number"]
        constraints = [models.CheckConstraint(
            condition=models.Q(first_number__lte=models.F("last_number")),
            name="archive_numbers_in_order")]

    def __str__(self) -> str:
        return self.file.name


class ArchivedEngagement(models.Model):
    """An archive holds entries of this engagement, which may not be removed under them."""

    archive = models.ForeignKey(AuditArchive, models.CASCADE, related_name="archived_engagements")
    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="+")

    class Meta:
        ordering = ["archive", "engagement"]
        constraints = [models.UniqueConstraint(fields=["archive", "engagement"],
                                               name="one_line_per_archived_engagement")]
