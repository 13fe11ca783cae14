from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.models.criteria import Criterion, OfModelQuerySet
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import MigratedModel
from engagements.models.visibility import in_engagements_of
from workers.models import Artifact, Job


class Outcome(models.TextChoices):
    PASSED = "passed", _("Passed")
    FAILED = "failed", _("Failed")
    NOT_MEASURED = "not_measured", _("Not measured")
    NOT_PROVABLE = "not_provable", _("Not provable")


class Measurement(models.Model):
    """A quantity that a reader found in an artifact of a model."""

    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="measurements")
    quantity = models.CharField(_("quantity"), max_length=120)
    value = models.FloatField(_("value"), null=True, blank=True)  # None: the artifact is a curve
    unit = models.CharField(_("unit"), max_length=20, blank=True)
    artifact = models.ForeignKey(Artifact, models.PROTECT, related_name="measurements")
    job = models.ForeignKey(Job, models.PROTECT, null=True, blank=True,
                            related_name="measurements")
    reader = models.CharField(max_length=60, blank=True)
    reader_version = models.CharField(max_length=20, blank=True)
    place = models.CharField(_("place in the file"), max_length=120, blank=True)
    is_practice = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OfModelQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["artifact", "quantity", "reader_version"],
                                    name="one_measurement_per_artifact_and_quantity")
        ]
        indexes = [models.Index(fields=["quantity", "-id"], name="measurements_by_quantity")]

    def __str__(self) -> str:
        return f"{self.model} · {self.quantity}"


class VerdictQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "VerdictQuerySet":
        return self.filter(in_engagements_of(user, "criterion__criteria_set__engagement"))


class Verdict(models.Model):
    """What the engine computed for a criterion. Never edited; a new computation is a new row."""

    criterion = models.ForeignKey(Criterion, models.CASCADE, related_name="verdicts")
    measurement = models.ForeignKey(Measurement, models.PROTECT, null=True, blank=True,
                                    related_name="verdicts")
    outcome = models.CharField(_("verdict"), max_length=14, choices=Outcome)
    figure = models.FloatField(_("figure"), null=True, blank=True)
    reason = models.CharField(max_length=60)
    facts = models.JSONField(default=dict, blank=True)  # figures, coverage, counts
    engine_version = models.CharField(max_length=20)
    is_practice = models.BooleanField(default=False)
    computed_at = models.DateTimeField(auto_now_add=True)

    objects = VerdictQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.get_outcome_display()}"
