import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.models import Engagement, MigratedModel
from workers.models.artifact import Artifact
from workers.models.job import Purpose


class PendingUploadQuerySet(models.QuerySet):
    def visible_to(self, user) -> "PendingUploadQuerySet":
        """One's own, of engagements that one still sees."""
        return self.filter(created_by=user.pk,
                           engagement__in=Engagement.objects.visible_to(user))


class PendingUpload(models.Model):
    """A file that arrives in parts; once it is whole it becomes an artifact."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="+")
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="+")
    name = models.CharField(_("name"), max_length=240)
    note = models.CharField(_("note"), max_length=240, blank=True)
    purpose = models.CharField(_("purpose"), max_length=16, choices=Purpose, blank=True,
                               default="", db_default="")
    size = models.PositiveBigIntegerField(_("size"))
    received = models.PositiveBigIntegerField(default=0)
    artifact = models.ForeignKey(Artifact, models.SET_NULL, null=True, blank=True,
                                 related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = PendingUploadQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name


class UploadPart(models.Model):
    """A part that has arrived; `name` is where the artifact store holds its bytes."""

    upload = models.ForeignKey(PendingUpload, models.CASCADE, related_name="parts")
    offset = models.PositiveBigIntegerField()
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    name = models.CharField(max_length=100)

    class Meta:
        ordering = ["offset"]
        constraints = [
            models.UniqueConstraint(fields=["upload", "offset"], name="one_part_at_an_offset")
        ]

    def __str__(self) -> str:
        return f"{self.offset}+{self.size}"
