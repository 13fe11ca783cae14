from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.surveys.models.survey import Survey
from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import MigratedModel


class InternalQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "InternalQuerySet":
        """Nothing for customers, otherwise the rows of visible surveys."""
        if not allowed(user, Can.VIEW_INTERNAL):
            return self.none()
        return self.filter(survey__in=Survey.objects.visible_to(user))


class Consequence(models.Model):
    """Something that followed from the answers and was taken over (DOMAIN 7, “feeds”).

    `value` is what the answers gave, in codes and figures; `result` names what came of it.
    """

    survey = models.ForeignKey(Survey, models.CASCADE, related_name="consequences")
    code = models.CharField(max_length=120)  # kind:key or kind:key@MODEL
    kind = models.CharField(max_length=16)
    key = models.CharField(max_length=60)
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="survey_consequences")
    value = models.JSONField(default=dict)
    result = models.JSONField(default=dict, blank=True)
    applied_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    applied_at = models.DateTimeField()

    objects = InternalQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["survey", "code"],
                                               name="consequence_applied_once")]

    def __str__(self) -> str:
        return f"{self.survey.engagement.code} · {self.code}"


class Decision(models.Model):
    """Go or no-go after the survey (DOMAIN 2.2), with what was missing when it was taken."""

    class Verdict(models.TextChoices):
        GO = "go", _("Go ahead")
        CONDITIONAL = "conditional", _("Go ahead with conditions")
        NO_GO = "no_go", _("Do not go ahead")

    survey = models.ForeignKey(Survey, models.CASCADE, related_name="decisions")
    verdict = models.CharField(_("decision"), max_length=12, choices=Verdict)
    reason = models.TextField(_("reason"), max_length=2000)
    score = models.PositiveSmallIntegerField(_("readiness"))
    missing = models.JSONField(default=list, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_at = models.DateTimeField()

    objects = InternalQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(condition=models.Q(score__lte=100),
                                              name="readiness_at_most_100")]

    def __str__(self) -> str:
        return f"{self.survey.engagement.code} · {self.get_verdict_display()}"
