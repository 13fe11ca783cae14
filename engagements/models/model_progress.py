from datetime import UTC, datetime

from django.db import models
from django.db.models import Q

from engagements.models.engagement import Engagement, MigratedModel
from engagements.models.stage import StageRecord
from engagements.models.user import User
from engagements.models.visibility import in_engagements_of
from engagements.stages import Stage, StageState

NOT_OPEN = datetime(9999, 1, 1, tzinfo=UTC)  # sorts behind every stage that is open


class ModelProgressQuerySet(models.QuerySet):
    def visible_to(self, user) -> "ModelProgressQuerySet":
        """Of the engagements that the user may see."""
        return self.filter(in_engagements_of(user))

    def under_way(self) -> "ModelProgressQuerySet":
        """Of models that were not dropped, in engagements that are not over."""
        return self.filter(is_under_way=True)


class ModelProgress(models.Model):
    """Where a model stands: a summary of its stage records, for lists over all engagements.

    Kept by every write of engagements, models and stage records (`engagements.model_progress`);
    `manage.py summaries` compares it with them and makes it anew.
    """

    model = models.OneToOneField(MigratedModel, models.CASCADE, primary_key=True,
                                 related_name="progress")
    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="progress")
    # The first stage that is not done; None once all are.
    record = models.ForeignKey(StageRecord, models.SET_NULL, null=True, related_name="+")
    stage = models.CharField(max_length=16, choices=Stage, blank=True)
    state = models.CharField(max_length=12, choices=StageState, blank=True)
    open_since = models.DateTimeField(default=NOT_OPEN)  # last move of an open stage
    moved_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    in_scope = models.PositiveSmallIntegerField(default=0)  # stages
    passed = models.PositiveSmallIntegerField(default=0)
    is_dropped = models.BooleanField(default=False)
    is_under_way = models.BooleanField(default=True)

    objects = ModelProgressQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "model progress"
        indexes = [
            models.Index(fields=["open_since", "model"], name="progress_longest_open",
                         condition=Q(is_under_way=True)),
            models.Index(fields=["state", "open_since", "model"], name="progress_by_state",
                         condition=Q(is_under_way=True)),
            models.Index(fields=["stage", "open_since", "model"], name="progress_by_stage",
                         condition=Q(is_under_way=True)),
        ]

    def __str__(self) -> str:
        return f"{self.model}: {self.stage} {self.state}"
