from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.models import Baseline, Criterion, MetricDefinition
from delivery.planning.models.change import ChangeRequest
from delivery.planning.models.plan import LONGEST_TASK, Task
from delivery.quotes.models import PriceLine, QuoteLine
from delivery.quotes.services.agreed_versions import Action, LineChange
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import MigratedModel
from engagements.stages import Scope, Stage
from workers.models import Artifact


class ScopeAction(models.TextChoices):
    ADD_MODEL = "add_model", _("Add a model")
    DROP_MODEL = "drop_model", _("Drop a model")
    ADD_STAGE = "add_stage", _("Bring a stage into scope")
    DROP_STAGE = "drop_stage", _("Take a stage out of scope")


class ScopeEffect(models.Model):
    """A model or a model's stage that comes in or falls out, in force with the change.

    `code` to `parameters_billion` are the facts of a model to be added. Plan and criteria follow.
    """

    change = models.ForeignKey(ChangeRequest, models.CASCADE, related_name="scope_effects")
    action = models.CharField(_("what happens"), max_length=10, choices=ScopeAction)
    model = models.ForeignKey(MigratedModel, models.PROTECT, null=True, blank=True,
                              related_name="+", verbose_name=_("model"))
    stage = models.CharField(_("stage"), max_length=16, choices=Stage, blank=True)
    code = models.CharField(_("code"), max_length=24, blank=True)
    name = models.CharField(_("name"), max_length=120, blank=True)
    name_en = models.CharField(_("English name"), max_length=120, blank=True)
    scope = models.CharField(_("scope"), max_length=12, choices=Scope, default=Scope.FULL)
    parameters_billion = models.DecimalField(
        _("parameters (billion)"), max_digits=9, decimal_places=3, null=True, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["change", "model", "stage"],
                                    condition=models.Q(model__isnull=False),
                                    name="one_scope_effect_per_stage"),
            models.UniqueConstraint(fields=["change", "code"], condition=~models.Q(code=""),
                                    name="model_added_once_by_change"),
            models.CheckConstraint(
                condition=models.Q(action="add_model", model=None, stage="")
                & ~models.Q(code="") & ~models.Q(name="")
                | models.Q(action="drop_model", model__isnull=False, stage="", code="")
                | models.Q(action__in=["add_stage", "drop_stage"], model__isnull=False, code="")
                & ~models.Q(stage=""), name="scope_effect_names_its_part"),
        ]

    def __str__(self) -> str:
        what = self.model or f"{self.code} {self.name}"
        return f"{what} · {self.get_stage_display()}" if self.stage else str(what)


class ScheduleEffect(models.Model):
    """A task's new length, in force once the change is approved."""

    change = models.ForeignKey(ChangeRequest, models.CASCADE, related_name="schedule_effects")
    task = models.ForeignKey(Task, models.PROTECT, related_name="+", verbose_name=_("task"))
    days_before = models.PositiveSmallIntegerField(_("working days before"))
    days_after = models.PositiveSmallIntegerField(_("working days after"))

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["change", "task"], name="one_effect_per_task"),
            models.CheckConstraint(condition=models.Q(days_after__lte=LONGEST_TASK),
                                   name="changed_task_not_endless"),
        ]

    def __str__(self) -> str:
        return str(self.task)


class CriterionEffect(models.Model):
    """A criterion's new threshold; fractions for figures in per cent."""

    change = models.ForeignKey(ChangeRequest, models.CASCADE, related_name="criterion_effects")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="+",
                                  verbose_name=_("criterion"))
    threshold_before = models.DecimalField(_("threshold before"), max_digits=24,
                                           decimal_places=10)
    threshold_after = models.DecimalField(_("threshold after"), max_digits=24, decimal_places=10)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["change", "criterion"],
                                    name="one_effect_per_criterion")]

    def __str__(self) -> str:
        return str(self.criterion)

    @property
    def before(self) -> str:
        return f"{self.threshold_before.normalize():f}"

    @property
    def after(self) -> str:
        return f"{self.threshold_after.normalize():f}"


class AddedCriterion(models.Model):
    """A criterion that comes in with the change, mostly of a model that the change adds.

    `code` names the model; a file is the reference of a model that is not there yet.
    """

    change = models.ForeignKey(ChangeRequest, models.CASCADE, related_name="added_criteria")
    code = models.CharField(_("model"), max_length=24)
    definition = models.ForeignKey(MetricDefinition, models.PROTECT, related_name="+",
                                   verbose_name=_("metric"))
    stage = models.CharField(_("stage"), max_length=16, choices=Stage)
    threshold = models.DecimalField(_("threshold"), max_digits=24, decimal_places=10)
    baseline = models.ForeignKey(Baseline, models.PROTECT, null=True, blank=True,
                                 related_name="+", verbose_name=_("baseline"))
    artifact = models.ForeignKey(Artifact, models.PROTECT, null=True, blank=True,
                                 related_name="+", verbose_name=_("raw file of the baseline"))

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["change", "code", "definition", "stage"],
                                    name="criterion_added_once_by_change"),
            models.CheckConstraint(condition=models.Q(baseline=None) | models.Q(artifact=None),
                                   name="added_criterion_has_one_reference"),
        ]

    def __str__(self) -> str:
        return f"{self.code} · {self.definition.localized_name}"

    @property
    def shown(self) -> str:
        """≤ 10 ms; a fraction of a figure in per cent as per cent."""
        unit = self.definition.unit
        value = self.threshold * 100 if unit == "%" else self.threshold
        return f"{self.definition.get_comparison_display()} {value.normalize():f} {unit}".strip()


class PriceEffect(models.Model):
    """A line of the quote that is added, changed or removed, in force with the change."""

    change = models.ForeignKey(ChangeRequest, models.CASCADE, related_name="price_effects")
    action = models.CharField(_("what happens"), max_length=8, choices=Action)
    line = models.ForeignKey(QuoteLine, models.PROTECT, null=True, blank=True, related_name="+",
                             verbose_name=_("line of the quote"))
    price = models.ForeignKey(PriceLine, models.PROTECT, null=True, blank=True, related_name="+",
                              verbose_name=_("item of the price list"))
    quantity = models.DecimalField(_("quantity after"), max_digits=12, decimal_places=2,
                                   null=True, blank=True)
    months = models.DecimalField(_("months after"), max_digits=6, decimal_places=2, default=1)
    unit_price = models.DecimalField(_("unit price after"), max_digits=16, decimal_places=4,
                                     null=True, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["change", "line"], name="one_effect_per_quote_line"),
            models.CheckConstraint(
                condition=models.Q(action="add", line=None, price__isnull=False)
                | models.Q(action__in=["change", "remove"], line__isnull=False, price=None),
                name="price_effect_names_its_line"),
            models.CheckConstraint(
                condition=models.Q(action="remove")
                | models.Q(quantity__gt=0, months__gt=0, unit_price__gte=0),
                name="price_effect_has_figures"),
        ]

    def __str__(self) -> str:
        return str(self.line or self.price)

    def as_change(self) -> LineChange:
        """What the quotes' services take."""
        return LineChange(self.action, self.line, self.price, self.quantity, self.months,
                          self.unit_price)
