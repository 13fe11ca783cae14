"""The rows of an operator comparison, indexed from its stored file so that pages can ask."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.models.criteria import OfEngagementQuerySet
from engagements.models import Engagement
from workers.models import Artifact


class Deviation(models.TextChoices):
    """Why a row deviates (limits: DOMAIN 3.2 L01 and msprobe's guide; see msprobe_rows)."""

    NONFINITE = "nonfinite", _("NaN or Inf")
    OVERFLOW = "overflow", _("Overflow or NaN")
    SHAPE = "shape", _("Other shape")
    CHECKSUM = "checksum", _("Other checksum")
    FLOOR = "floor", _("Reference vanishes")
    COSINE = "cosine", _("Cosine below 0.99")
    RELATIVE_ERROR = "relative_error", _("Error above 1 %")
    LIMIT = "limit", _("Beyond the tool's limit")


class OfComparisonQuerySet(OfEngagementQuerySet):
    engagement_path = "comparison__engagement"


class Comparison(models.Model):
    """One comparison of msprobe or msaccucmp; derived from the artifact, safe to build anew."""

    artifact = models.OneToOneField(Artifact, models.CASCADE, related_name="comparison")
    # That of the artifact, which never changes: lists of some engagements' comparisons go by it.
    engagement = models.ForeignKey(Engagement, models.PROTECT, null=True, blank=True,
                                   related_name="+", db_index=False)
    reader_version = models.CharField(max_length=20)
    mode = models.CharField(_("mode"), max_length=12, blank=True)
    rows = models.PositiveIntegerField(_("rows"), default=0)
    deviating = models.PositiveIntegerField(_("deviating"), default=0)
    nonfinite = models.PositiveIntegerField(_("not finite"), default=0)
    unmatched = models.PositiveIntegerField(_("without counterpart"), default=0)
    # Positions in execution order. The suspect's own inputs agree, so it starts the deviation.
    first_position = models.PositiveIntegerField(null=True, blank=True)
    suspect_position = models.PositiveIntegerField(null=True, blank=True)
    problem = models.CharField(max_length=240, blank=True)  # why the file could not be indexed
    indexed_at = models.DateTimeField(auto_now_add=True)

    objects = OfEngagementQuerySet.as_manager()

    class Meta:
        ordering = ["-artifact_id"]
        indexes = [models.Index(fields=["engagement", "-id"], name="comparisons_by_engagement")]

    def __str__(self) -> str:
        return str(self.artifact)


class OperatorRow(models.Model):
    """One tensor of one operator call on both sides."""

    comparison = models.ForeignKey(Comparison, models.CASCADE, related_name="operators")
    position = models.PositiveIntegerField(_("order of execution"))
    line = models.PositiveIntegerField(_("row of the sheet"))
    op = models.CharField(_("operator"), max_length=300)
    name = models.CharField(_("tensor"), max_length=400)
    role = models.CharField(_("role"), max_length=16, blank=True)
    reason = models.CharField(_("deviation"), max_length=16, blank=True, choices=Deviation)
    missing_on = models.CharField(max_length=5, blank=True)  # npu or bench
    is_nonfinite = models.BooleanField(default=False)
    cosine = models.FloatField(_("cosine"), null=True, blank=True)
    relative_error = models.FloatField(_("relative error"), null=True, blank=True)
    max_abs_error = models.FloatField(_("largest absolute error"), null=True, blank=True)
    dtypes = models.CharField(_("data types"), max_length=120, blank=True)
    shapes = models.CharField(_("shapes"), max_length=240, blank=True)
    tool_verdict = models.CharField(_("verdict of the tool"), max_length=120, blank=True)
    # max, min, mean, norm of the NPU, then of the reference, as the file prints them
    statistics = models.JSONField(default=list, blank=True)

    objects = OfComparisonQuerySet.as_manager()

    class Meta:
        ordering = ["comparison", "position"]
        constraints = [models.UniqueConstraint(fields=["comparison", "position"],
                                               name="one_operator_row_per_position")]
        indexes = [models.Index(fields=["op", "comparison"], name="operator_history")]

    @property
    def sides(self) -> list[tuple]:
        """(NPU, reference) of max, min, mean and norm."""
        half = len(self.statistics) // 2
        return list(zip(self.statistics[:half], self.statistics[half:], strict=False))
