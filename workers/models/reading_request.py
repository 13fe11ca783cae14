from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from engagements.queue import ClaimableQuerySet, ClaimableRow
from workers.models.artifact import Artifact


class ReadingState(models.TextChoices):
    BEING_READ = "being_read", _("being read")
    READ = "read", _("read")
    REFUSED = "refused", _("refused")


class ReadingRequestQuerySet(ClaimableQuerySet):
    def due(self, now: datetime) -> "ReadingRequestQuerySet":
        """Files that are to be read and that no worker is reading."""
        return self.filter(state=ReadingState.BEING_READ).unclaimed(now)


class ReadingRequest(ClaimableRow):
    """That a worker is to read a stored file, and how that ended.

    Files of jobs are read with their job and have none, unless somebody had them read again.
    """

    artifact = models.OneToOneField(Artifact, models.CASCADE, related_name="reading_request")
    state = models.CharField(_("state"), max_length=12, choices=ReadingState,
                             default=ReadingState.BEING_READ)
    # Who had the file read again; empty for the first reading, which its upload asks for.
    again_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                 related_name="+")
    refusal_code = models.CharField(max_length=40, blank=True)
    refusal = models.CharField(max_length=400, blank=True)  # the reader's own sentence
    attempts = models.PositiveSmallIntegerField(default=0)
    asked_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = ReadingRequestQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state=ReadingState.BEING_READ, ended_at=None)
                | (~Q(state=ReadingState.BEING_READ) & Q(ended_at__isnull=False)),
                name="reading_that_ended_has_its_time"),
            models.CheckConstraint(
                condition=Q(state=ReadingState.REFUSED) & ~Q(refusal_code="")
                | (~Q(state=ReadingState.REFUSED) & Q(refusal_code="")),
                name="refused_reading_has_its_code"),
        ]
        indexes = [models.Index(fields=["id"], name="files_to_read",
                                condition=Q(state=ReadingState.BEING_READ))]

    def __str__(self) -> str:
        return f"{self.artifact_id}: {self.state}"
