from django.conf import settings
from django.db import models

from engagements.models.engagement import Engagement


class AuditChain(models.Model):
    """The head of the hash chain; locked while an entry is appended."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    number = models.PositiveBigIntegerField(default=0)  # of the newest entry
    head = models.CharField(max_length=64, default="0" * 64)
    seal = models.CharField(max_length=64, default="", blank=True)


class AuditEntryQuerySet(models.QuerySet):
    def visible_to(self, user) -> "AuditEntryQuerySet":
        """Administrators and managers; nobody else reads the audit log."""
        return self if getattr(user, "sees_every_engagement", False) else self.none()


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
            models.Index(fields=["actor", "-id"], name="audit_by_actor"),
            models.Index(fields=["engagement", "-id"], name="audit_by_engagement"),
            models.Index(fields=["target_type", "target_id"], name="audit_by_target"),
            models.Index(fields=["target_id", "-id"], name="audit_by_target_id"),
        ]
        verbose_name_plural = "audit entries"
