"""Human evaluation of generated text: the blind comparison and each rater's choices."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.models.criteria import OfEngagementQuerySet, OfModelQuerySet
from engagements.models import MigratedModel
from workers.models import Artifact


class OfEvaluationQuerySet(OfEngagementQuerySet):
    engagement_path = "evaluation__model__engagement"


class HumanEvaluation(models.Model):
    """Answers of source and target platform to the same prompts, rated side by side.

    `items`: [{"prompt", "baseline", "candidate"}]. `seed` decides which side each stands on (see
    `verdicts.preferences`). `report` is the raw file of a concluded one, which is measured.
    """

    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="human_evaluations")
    name = models.CharField(_("name"), max_length=120)
    instruction = models.TextField(_("what is judged"), blank=True)
    baseline_file = models.ForeignKey(Artifact, models.PROTECT, related_name="+",
                                      verbose_name=_("answers of the source platform"))
    candidate_file = models.ForeignKey(Artifact, models.PROTECT, related_name="+",
                                       verbose_name=_("answers of the migrated model"))
    items = models.JSONField(default=list)
    seed = models.PositiveBigIntegerField(_("seed of the sides"))
    report = models.ForeignKey(Artifact, models.PROTECT, null=True, blank=True, related_name="+",
                               verbose_name=_("result file"))
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    recorded_at = models.DateTimeField(auto_now_add=True)
    concluded_at = models.DateTimeField(null=True, blank=True)

    objects = OfModelQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(
            condition=models.Q(report=None, concluded_at=None)
            | models.Q(report__isnull=False, concluded_at__isnull=False),
            name="concluded_evaluation_has_report")]

    def __str__(self) -> str:
        return f"HE-{self.pk} · {self.name}"

    @property
    def is_concluded(self) -> bool:
        return self.concluded_at is not None


class HumanRating(models.Model):
    """One rater's sheet: `choices` by item, "A", "B", "=" or None where none was made."""

    evaluation = models.ForeignKey(HumanEvaluation, models.CASCADE, related_name="ratings")
    rater = models.CharField(_("rater"), max_length=80)
    choices = models.JSONField(default=list)
    artifact = models.ForeignKey(Artifact, models.PROTECT, related_name="+",
                                 verbose_name=_("filled-in sheet"))
    imported_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    imported_at = models.DateTimeField(auto_now_add=True)

    objects = OfEvaluationQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["evaluation", "rater"],
                                               name="one_rating_per_rater")]

    def __str__(self) -> str:
        return f"{self.evaluation} · {self.rater}"

    @property
    def rated(self) -> int:
        """Number of items with a choice."""
        return sum(choice is not None for choice in self.choices)
