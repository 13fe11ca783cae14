from decimal import Decimal

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.planning.effort_choices import DriverCode, Grade, WorkItem
from delivery.planning.estimation import basis_sentence
from delivery.planning.models.base import InternalQuerySet
from engagements.models import Engagement, MigratedModel
from engagements.models.optimistic_locked import OptimisticLocked
from engagements.stages import Stage


class EffortEstimate(OptimisticLocked):
    """A numbered version of the effort estimate of an engagement. Approved is frozen."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        APPROVED = "approved", _("Approved")
        SUPERSEDED = "superseded", _("Superseded")

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="estimates")
    version = models.PositiveSmallIntegerField(_("version"))
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.DRAFT)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    approved_at = models.DateTimeField(null=True, blank=True)

    objects = InternalQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "version"],
                                    name="estimate_version_unique"),
            models.UniqueConstraint(fields=["engagement"], condition=models.Q(state="draft"),
                                    name="one_estimate_draft"),
            models.UniqueConstraint(fields=["engagement"], condition=models.Q(state="approved"),
                                    name="one_approved_estimate"),
            models.CheckConstraint(
                condition=models.Q(state="draft") | models.Q(approved_at__isnull=False),
                name="approved_estimate_has_time"),
        ]

    def __str__(self) -> str:
        return f"{self.engagement.code} · V{self.version}"


class EffortLineQuerySet(InternalQuerySet):
    engagement_path = "estimate__engagement"


class EffortLine(models.Model):
    """Person-days of one item: what the rules gave, and what a person made of it and why."""

    estimate = models.ForeignKey(EffortEstimate, models.CASCADE, related_name="lines")
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="effort_lines")
    stage = models.CharField(_("stage"), max_length=16, choices=Stage)
    item = models.CharField(_("item"), max_length=16, choices=WorkItem)
    grade = models.CharField(_("grade"), max_length=12, choices=Grade)
    low = models.DecimalField(_("low"), max_digits=7, decimal_places=1)
    likely = models.DecimalField(_("likely"), max_digits=7, decimal_places=1)
    high = models.DecimalField(_("high"), max_digits=7, decimal_places=1)
    computed = models.JSONField(default=list, blank=True)  # [low, likely, high] of the rules
    basis = models.JSONField(default=list, blank=True)  # [code, values] per sentence
    reason = models.CharField(_("reason for the adjustment"), max_length=240, blank=True)
    position = models.PositiveIntegerField(default=0)

    objects = EffortLineQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(low__gte=0) & models.Q(likely__gte=models.F("low"))
                & models.Q(high__gte=models.F("likely")), name="effort_low_likely_high"),
            models.UniqueConstraint(fields=["estimate", "model", "item", "grade"],
                                    name="effort_line_unique"),
        ]

    def __str__(self) -> str:
        where = self.model.code if self.model else self.estimate.engagement.code
        return f"{where} · {self.get_item_display()}"

    @property
    def is_adjusted(self) -> bool:
        """Whether a person changed what the rules gave."""
        return [Decimal(v) for v in self.computed] != [self.low, self.likely, self.high]

    @property
    def basis_sentences(self) -> list[str]:
        """The basis in words of the active language."""
        return [basis_sentence(code, values) for code, values in self.basis]


class DriverQuerySet(InternalQuerySet):
    engagement_path = "model__engagement"


class EffortDriver(models.Model):
    """A stated fact of a model that its estimate takes into account; `amount` is its count."""

    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="effort_drivers")
    code = models.CharField(_("driver"), max_length=16, choices=DriverCode)
    amount = models.DecimalField(_("amount"), max_digits=9, decimal_places=1)
    source = models.CharField(_("source"), max_length=80, blank=True)

    objects = DriverQuerySet.as_manager()

    class Meta:
        ordering = ["model", "code"]
        constraints = [
            models.UniqueConstraint(fields=["model", "code"], name="driver_once_per_model"),
            models.CheckConstraint(condition=models.Q(amount__gt=0),
                                   name="driver_amount_above_zero")]

    def __str__(self) -> str:
        return f"{self.model.code} · {self.get_code_display()}"
