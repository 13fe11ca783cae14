from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Agent, Engagement, MigratedModel
from engagements.models.visibility import in_engagements_of
from workers.models.job import Job, Purpose


class ArtifactQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "ArtifactQuerySet":
        """Files of visible engagements; node files (no engagement) for the firm's people."""
        return self.filter(in_engagements_of(user, or_none=allowed(user, Can.VIEW_INTERNAL)))


class Masking(models.TextChoices):
    """Whether the secrets that a file may hold were masked before it was stored."""

    MASKED = "masked", _("Masked where they were recognised")
    NOT_TEXT = "not_text", _("Not masked: the file is not plain text, so secrets in it can be read")
    AS_GIVEN = "as_given", _("Not masked: kept as a person gave it")
    UNRECORDED = "unrecorded", _("Not recorded")


class Artifact(models.Model):
    """A stored file and its checksum: collected by a job or uploaded by a person."""

    engagement = models.ForeignKey(
        Engagement, models.PROTECT, null=True, blank=True, related_name="artifacts"
    )
    model = models.ForeignKey(
        MigratedModel, models.PROTECT, null=True, blank=True, related_name="artifacts"
    )
    job = models.ForeignKey(Job, models.PROTECT, null=True, blank=True, related_name="artifacts")
    name = models.CharField(_("name"), max_length=240)
    file = models.FileField(max_length=300)  # named after its content
    size = models.PositiveBigIntegerField(_("size"))
    sha256 = models.CharField("SHA-256", max_length=64)
    # What the node computed; it differs from `sha256` where secrets were masked.
    node_sha256 = models.CharField(max_length=64, blank=True)
    # Of what a packed file holds; empty where nothing is packed.
    content_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    masking = models.CharField(
        max_length=12, choices=Masking, default=Masking.UNRECORDED,
        db_default=Masking.UNRECORDED.value)
    is_practice = models.BooleanField(default=False)
    # Of a file that no job made, as its uploader said; that of the others is their job's.
    purpose = models.CharField(_("purpose"), max_length=16, choices=Purpose, blank=True,
                               default="", db_default="")
    # What the rules say of an uploaded file; a job keeps that of its files in its results.
    rules = models.JSONField(default=dict, blank=True)
    note = models.CharField(_("note"), max_length=240, blank=True)
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    # What stored it in that person's name, if it was an agent.
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ArtifactQuerySet.as_manager()

    class Meta:
        ordering = ["job", "name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["job", "name"], condition=models.Q(job__isnull=False),
                name="one_artifact_per_job_and_name",
            )
        ]
        indexes = [
            models.Index(fields=["name", "id"], name="artifacts_by_name"),
            models.Index(fields=["engagement", "-id"], name="artifacts_by_engagement"),
            models.Index(fields=["sha256", "id"], name="artifacts_by_content"),
            models.Index(fields=["file"], name="artifact_by_file"),
            models.Index(fields=["node_sha256"], name="artifacts_as_on_node"),
            models.Index(fields=["content_sha256"], name="artifacts_unpacked"),
        ]

    def __str__(self) -> str:
        return self.name


class StoredReading(models.Model):
    """What a reader found in an artifact. A newer reader adds a row, the old one stays."""

    artifact = models.ForeignKey(Artifact, models.CASCADE, related_name="readings")
    # That of the artifact, which never changes: lists of some engagements' readings go by it.
    engagement = models.ForeignKey(Engagement, models.PROTECT, null=True, blank=True,
                                   related_name="+", db_index=False)
    kind = models.CharField(max_length=40)
    reader = models.CharField(max_length=60)
    reader_version = models.CharField(max_length=20)
    tool = models.CharField(max_length=80, blank=True)
    tool_version = models.CharField(max_length=80, blank=True)
    values = models.JSONField(default=dict)
    warnings = models.JSONField(default=list)
    read_at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["artifact", "reader", "reader_version"], name="one_reading_per_reader"
            )
        ]
        indexes = [
            models.Index(fields=["kind", "-id"], name="readings_by_kind"),
            models.Index(fields=["engagement", "kind", "-id"], name="readings_by_engagement"),
        ]
