from datetime import datetime

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from delivery.reports.models.document import Document
from engagements.queue import ClaimableQuerySet, ClaimableRow


class RenderJobQuerySet(ClaimableQuerySet):
    def due(self, now: datetime) -> "RenderJobQuerySet":
        """Render jobs that nobody holds, and those whose worker died."""
        return self.filter(state__in=[RenderJob.State.PENDING, RenderJob.State.RUNNING]
                           ).unclaimed(now)


class RenderJob(ClaimableRow):
    """A file that a worker has to make. The row is the truth, the queue only a wake-up."""

    class State(models.TextChoices):
        PENDING = "pending", pgettext_lazy("file", "Waiting")
        RUNNING = "running", _("Being set")
        DONE = "done", _("Ready")
        FAILED = "failed", pgettext_lazy("job", "Failed")

    document = models.ForeignKey(Document, models.CASCADE, related_name="render_jobs")
    language = models.CharField(max_length=10)
    format = models.CharField(max_length=16)  # as in DocumentFile
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=400, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RenderJobQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["document", "language", "format"],
                                    name="one_order_per_language_and_format"),
            models.CheckConstraint(
                condition=~models.Q(state="running") | models.Q(claimed_until__isnull=False),
                name="running_order_has_holder"),
        ]

    def __str__(self) -> str:
        return f"{self.document} · {self.language} · {self.format}"
