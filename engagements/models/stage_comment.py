from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.agent import Agent
from engagements.models.stage import StageRecord


class StageCommentQuerySet(AuditedQuerySet):
    def newest_of_each(self) -> "StageCommentQuerySet":
        """The newest comment of each stage."""
        later = StageComment.objects.filter(record=OuterRef("record"), pk__gt=OuterRef("pk"))
        return self.filter(~Exists(later))


class StageComment(models.Model):
    """What somebody of the firm notes on a model's stage; customers do not see it."""

    record = models.ForeignKey(StageRecord, models.CASCADE, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # Through which the author wrote it, if it was one.
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, blank=True,
                              related_name="comments")
    at = models.DateTimeField()
    text = models.TextField(_("comment"), max_length=2000)

    objects = StageCommentQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.record}: {self.text[:40]}"
