from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.stage import StageRecord
from engagements.models.visibility import in_engagements_of


class StageWaiverQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "StageWaiverQuerySet":
        """Waivers of the engagements that the user may see."""
        return self.filter(in_engagements_of(user, "record__model__engagement"))

    def open(self) -> "StageWaiverQuerySet":
        """Not revoked, whether signed or not."""
        return self.filter(revoked_at=None)


class SignedWaiver(models.Model):
    """One person drafts it, another signs it (rule 1); its content is hashed then.

    `checks` holds code, label and sentence of each thing that is missing and that it lets pass, as
    it stood when the waiver was drafted.
    """

    reason = models.TextField(_("reason"))
    checks = models.JSONField(default=list)
    drafted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    drafted_at = models.DateTimeField()
    signed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                  related_name="+")
    signed_at = models.DateTimeField(null=True, blank=True)
    content_hash = models.CharField(max_length=64, blank=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                   blank=True, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(check["code"] for check in self.checks)


class StageWaiver(SignedWaiver):
    """A manager lets a stage through in spite of named checks; somebody else signs."""

    record = models.ForeignKey(StageRecord, models.CASCADE, related_name="waivers")

    objects = StageWaiverQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["record"], condition=models.Q(revoked_at=None),
                                    name="one_open_waiver_per_stage"),
            models.CheckConstraint(
                condition=models.Q(signed_at=None, signed_by=None)
                | (models.Q(signed_at__isnull=False) & ~models.Q(content_hash="")
                   & ~models.Q(signed_by=models.F("drafted_by"))),
                name="stage_waiver_signed_by_another"),
        ]

    def __str__(self) -> str:
        return f"W-{self.pk} {self.record}"
