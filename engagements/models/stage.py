from django.conf import settings
from django.db import models
from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.agent import Agent
from engagements.models.engagement import Engagement, MigratedModel, localized
from engagements.models.visibility import in_engagements_of
from engagements.stages import OWN_REASONS, SIX_STEPS, TAKING_BACK, Stage, StageMove, StageState


class StageRecordQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "StageRecordQuerySet":
        return self.filter(in_engagements_of(user, "model__engagement"))


class StageRecord(models.Model):
    """One cell of the matrix: a model in a stage."""

    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="stages")
    stage = models.CharField(_("stage"), max_length=16, choices=Stage)
    position = models.PositiveSmallIntegerField()
    state = models.CharField(
        _("state"), max_length=12, choices=StageState, default=StageState.NOT_STARTED
    )
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    passed_at = models.DateTimeField(null=True, blank=True)

    objects = StageRecordQuerySet.as_manager()

    class Meta:
        ordering = ["model__position", "position"]
        indexes = [
            models.Index(fields=["state", "id"], name="records_by_state"),
            models.Index(fields=["stage", "id"], name="records_by_stage"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["model", "stage"], name="one_record_per_stage"),
            models.CheckConstraint(
                condition=~models.Q(state__in=[StageState.PASSED, StageState.WAIVED])
                | models.Q(passed_at__isnull=False),
                name="passed_stage_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} · {self.get_stage_display()}"

    @property
    def method_step(self) -> str:
        """Number and name of the stage in the six-step method; "" where it has none."""
        number, label = SIX_STEPS.get(self.stage, (0, ""))
        return f"{number} {label}" if number else ""

    @property
    def engagement(self) -> Engagement:
        return self.model.engagement


class StageTransitionQuerySet(AuditedQuerySet):
    def standing(self) -> "StageTransitionQuerySet":
        """Without submissions and starts that were taken back, and without what did so."""
        later = StageTransition.objects.filter(
            record=OuterRef("record"), pk__gt=OuterRef("pk")).order_by("pk")
        following = Coalesce(Subquery(later.values("move")[:1]), Value(""))
        return self.exclude(move__in=TAKING_BACK).alias(following_move=following).exclude(
            following_move__in=TAKING_BACK)


class StageTransition(models.Model):
    """The log of moves: who, when, from, to, why, and what the gate said."""

    record = models.ForeignKey(StageRecord, models.CASCADE, related_name="transitions")
    move = models.CharField(_("move"), max_length=12, choices=StageMove)
    from_state = models.CharField(max_length=12, choices=StageState)
    to_state = models.CharField(max_length=12, choices=StageState)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # Through which the actor moved it, if it was one.
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, blank=True, related_name="moves")
    at = models.DateTimeField()
    comment = models.TextField(_("reason"), blank=True)
    checks = models.JSONField(default=list, blank=True)

    objects = StageTransitionQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]

    @property
    def localized_comment(self) -> str:
        return gettext(self.comment) if self.comment in OWN_REASONS else self.comment


class ChecklistItem(models.Model):
    """Something a person confirms before the stage may pass.

    `evidence` is a stored file (`#12`), an address or a place in words; some items need one.
    """

    record = models.ForeignKey(StageRecord, models.CASCADE, related_name="checklist")
    text = models.CharField(max_length=240)
    text_en = models.CharField(max_length=240, blank=True)
    position = models.PositiveSmallIntegerField(default=0)
    needs_evidence = models.BooleanField(default=False)
    evidence = models.CharField(_("evidence"), max_length=240, blank=True)
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    done_at = models.DateTimeField(null=True, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.localized_text

    @property
    def localized_text(self) -> str:
        return localized(self.text, self.text_en)
