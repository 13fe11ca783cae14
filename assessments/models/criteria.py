from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.errors import WrongState
from engagements.models import Engagement, MigratedModel
from engagements.models.engagement import localized
from engagements.models.visibility import in_engagements_of
from engagements.stages import Stage
from workers.models import Artifact


class OfEngagementQuerySet(AuditedQuerySet):
    """Rows that belong to an engagement over `engagement_path`."""

    engagement_path = "engagement"

    def visible_to(self, user) -> "OfEngagementQuerySet":
        """Rows of the engagements that the user may see."""
        return self.filter(in_engagements_of(user, self.engagement_path))


class OfSetQuerySet(OfEngagementQuerySet):
    engagement_path = "criteria_set__engagement"


class OfModelQuerySet(OfEngagementQuerySet):
    engagement_path = "model__engagement"


class MetricDefinition(models.Model):
    """How a figure is computed (DOMAIN 3.4). A version is never edited; a change is a new one."""

    BOOKKEEPING = ("change_note", "created_by", "created_at")  # not part of what is signed

    class Calculator(models.TextChoices):
        LOSS_CURVE = "loss_curve", _("Loss curve against baseline")
        RELATIVE_ERROR = "relative_error", _("Relative error against baseline")
        DEGRADATION = "degradation", _("Degradation against baseline")
        POINTS = "points", _("Difference to baseline")
        RATIO = "ratio", _("Ratio to baseline")
        REDUCTION = "reduction", _("Reduction against baseline")
        SCALING = "scaling", _("Scaling efficiency")
        VALUE = "value", _("Measured value")

    class Selection(models.TextChoices):
        """Which of the measured runs count (DOMAIN AR-09). The best one only if so agreed."""

        LAST = "last", _("the last run")
        MEAN = "mean", _("mean of the last k runs")
        WORST = "worst", _("worst of the last k runs")
        BEST = "best", _("best of the last k runs")
        MEDIAN = "median", _("median of the last k runs")

    class Comparison(models.TextChoices):
        LESS = "lt", "<"
        AT_MOST = "le", "≤"
        GREATER = "gt", ">"
        AT_LEAST = "ge", "≥"

    code = models.CharField(_("code"), max_length=60)
    version = models.PositiveSmallIntegerField(_("version"), default=1)
    name = models.CharField(_("name"), max_length=120)
    name_en = models.CharField(_("English name"), max_length=120)
    calculator = models.CharField(_("calculator"), max_length=20, choices=Calculator)
    quantity = models.CharField(_("quantity"), max_length=40)  # what readings are looked up
    formula = models.TextField(_("formula"))
    formula_en = models.TextField(_("formula (English)"))
    alignment = models.CharField(_("alignment"), max_length=240, blank=True)
    alignment_en = models.CharField(max_length=240, blank=True)
    comparison = models.CharField(_("comparison"), max_length=2, choices=Comparison)
    unit = models.CharField(_("unit"), max_length=20, blank=True)  # "%" figures are fractions
    first_step = models.PositiveIntegerField(_("window from step"), null=True, blank=True)
    last_step = models.PositiveIntegerField(_("window to step"), null=True, blank=True)
    epsilon = models.FloatField(_("near-zero guard ε"), default=0)
    minimum_coverage = models.FloatField(_("minimum coverage"), default=0.95)
    minimum_points = models.PositiveIntegerField(_("minimum common points"), default=1)
    figure = models.CharField(_("judged figure"), max_length=60, default="figure")
    selection = models.CharField(_("selection rule"), max_length=8, choices=Selection,
                                 default=Selection.LAST)
    runs = models.PositiveSmallIntegerField(_("runs judged (k)"), default=1)
    source = models.CharField(_("source"), max_length=160, blank=True)
    change_note = models.CharField(_("why this version"), max_length=240, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                   related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["code", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["code", "version"], name="definition_version_unique")
        ]

    def __str__(self) -> str:
        return f"{self.code} v{self.version}"

    def save(self, *args, **kwargs) -> None:
        """Store a new version. Raises WrongState for one that is stored already."""
        if not self._state.adding:
            raise WrongState(_("A version of a definition is never changed; add a new one."))
        super().save(*args, **kwargs)

    @property
    def localized_name(self) -> str:
        return localized(self.name, self.name_en)

    @property
    def localized_formula(self) -> str:
        return localized(self.formula, self.formula_en)

    @property
    def localized_alignment(self) -> str:
        return localized(self.alignment, self.alignment_en)

    @property
    def localized_source(self) -> str:
        """The source in the active language, where the library has words for it."""
        return gettext(self.source) if self.source else ""


class CriteriaSet(models.Model):
    """The contract's criteria in one version. Signed is frozen."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        SIGNED = "signed", _("Signed")
        SUPERSEDED = "superseded", _("Superseded")

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="criteria_sets")
    version = models.PositiveSmallIntegerField(_("version"))
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.DRAFT)
    signed_at = models.DateTimeField(null=True, blank=True)
    signed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                  related_name="+")
    customer_signatory = models.CharField(_("signed for the customer by"), max_length=120,
                                          blank=True)
    content_hash = models.CharField(max_length=64, blank=True)

    objects = OfEngagementQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "version"],
                                    name="criteria_version_unique"),
            models.UniqueConstraint(fields=["engagement"], condition=models.Q(state="draft"),
                                    name="one_criteria_draft"),
            models.CheckConstraint(
                condition=models.Q(state="draft") | models.Q(signed_at__isnull=False),
                name="signed_criteria_have_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.engagement.code} V{self.version}"


class Baseline(models.Model):
    """A reference measured on the source platform, with its raw file (DOMAIN AR-04)."""

    class Origin(models.TextChoices):
        MEASURED = "measured", _("Measured on the source platform")
        PUBLISHED = "published", _("Published, not measured")

    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="baselines")
    quantity = models.CharField(_("quantity"), max_length=120)
    value = models.DecimalField(_("value"), max_digits=24, decimal_places=10, null=True, blank=True)
    unit = models.CharField(_("unit"), max_length=20, blank=True)
    artifact = models.ForeignKey(Artifact, models.PROTECT, null=True, blank=True,
                                 related_name="baselines")
    environment = models.JSONField(_("environment"), default=dict, blank=True)
    hardware = models.CharField(_("hardware"), max_length=240, blank=True)
    software = models.CharField(_("software"), max_length=240, blank=True)
    data_set = models.CharField(_("data set"), max_length=240, blank=True)
    seeds = models.CharField(_("seeds"), max_length=120, blank=True)
    source = models.CharField(_("source"), max_length=160, blank=True)
    origin = models.CharField(_("origin"), max_length=12, choices=Origin, blank=True)
    # Why a value that lies far from similar ones is right; for the firm's people.
    explanation = models.CharField(_("explanation"), max_length=240, blank=True)
    measured_at = models.DateTimeField(_("measured at"), null=True, blank=True)
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    related_name="+")
    frozen_at = models.DateTimeField(null=True, blank=True)

    objects = OfModelQuerySet.as_manager()

    class Meta:
        ordering = ["model", "quantity", "-pk"]
        indexes = [models.Index(fields=["model"], name="baselines_not_frozen",
                                condition=models.Q(frozen_at__isnull=True))]

    def __str__(self) -> str:
        return f"{self.model} · {self.quantity}"

    @property
    def is_published(self) -> bool:
        """Taken from a publication: nobody has shown that the source platform reaches it."""
        return self.origin == self.Origin.PUBLISHED

    def serves(self, definition: MetricDefinition) -> bool:
        """Whether it holds the definition's quantity, perhaps of one task."""
        return self.quantity.partition(":")[0] == definition.quantity


class Criterion(models.Model):
    """A threshold on a metric of a model, within a criteria set."""

    criteria_set = models.ForeignKey(CriteriaSet, models.CASCADE, related_name="criteria")
    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="criteria")
    definition = models.ForeignKey(MetricDefinition, models.PROTECT, related_name="criteria")
    stage = models.CharField(_("stage"), max_length=16, choices=Stage)
    threshold = models.DecimalField(_("threshold"), max_digits=24, decimal_places=10)
    baseline = models.ForeignKey(Baseline, models.PROTECT, null=True, blank=True,
                                 related_name="criteria")
    # At which point of a benchmark: `c8,i1024,o256` or `b8`; empty for any.
    point = models.CharField(_("point"), max_length=60, blank=True)
    # Which of the measured runs count, and how many are wanted; empty: as the definition says.
    selection = models.CharField(_("which runs count"), max_length=8, blank=True,
                                 choices=MetricDefinition.Selection)
    runs = models.PositiveSmallIntegerField(_("runs wanted"), null=True, blank=True,
                                            validators=[MinValueValidator(1)])
    position = models.PositiveSmallIntegerField(default=0)

    objects = OfSetQuerySet.as_manager()

    class Meta:
        ordering = ["model__position", "position", "pk"]

    def __str__(self) -> str:
        return f"{self.model.code} · {self.definition}"

    @property
    def run_rule(self) -> tuple[str, int]:
        """Which of the measured runs count, a Selection, and how many are wanted."""
        if self.selection:
            return self.selection, self.runs or 1
        return self.definition.selection, self.definition.runs

    @property
    def run_rule_text(self) -> str:
        """The same in the active language."""
        selection, wanted = self.run_rule
        rule = str(MetricDefinition.Selection(selection).label)
        return f"{rule} (k = {wanted})" if wanted > 1 else rule

    @property
    def quantity(self) -> str:
        """What is measured: the baseline's quantity may name a task, as in `score:gsm8k`."""
        if self.baseline:
            return self.baseline.quantity
        return f"{self.definition.quantity}:{self.point}" if self.point else (
            self.definition.quantity)
