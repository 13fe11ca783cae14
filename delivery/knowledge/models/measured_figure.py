from django.db import models
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from assessments.presentation.quantity_labels import quantity_label
from engagements.access import Can, allowed
from engagements.models import Engagement, MigratedModel
from workers.labels.number_text import figure_text

CURVE_ERROR, EFFORT = "curve_error", "effort_days"
KEY = ("family", "size", "quantity", "unit", "chip", "cann", "framework", "strategy",
       "is_practice")


class FigureKey(models.Model):
    """What a figure is of; texts of `delivery.knowledge.families`, empty where not known."""

    family = models.CharField(_("model family"), max_length=40)
    size = models.CharField(_("size"), max_length=16, blank=True)
    quantity = models.CharField(_("quantity"), max_length=60)
    unit = models.CharField(_("unit"), max_length=20, blank=True)
    chip = models.CharField(_("chip"), max_length=24, blank=True)
    cann = models.CharField("CANN", max_length=30, blank=True)
    framework = models.CharField(_("framework"), max_length=48, blank=True)
    strategy = models.CharField(_("parallel strategy"), max_length=48, blank=True)
    is_practice = models.BooleanField(default=False)

    class Meta:
        abstract = True

    @property
    def key(self) -> dict:
        return {name: getattr(self, name) for name in KEY}

    @property
    def family_label(self) -> str:
        """Family or kind of model in the active language, with its size."""
        return " ".join(filter(None, (gettext(self.family), self.size)))

    @property
    def quantity_label(self) -> str:
        return label_of(self.quantity)


def label_of(quantity: str) -> str:
    """A quantity of the library in the active language."""
    if quantity == EFFORT:
        return pgettext("measured figure", "Effort spent")
    if quantity == CURVE_ERROR:
        return gettext("Mean relative error of the loss curve")
    return quantity_label(quantity)


class ModelFigure(FigureKey):
    """One figure of one model, as last measured. Kept up from measurements, verdicts, baselines
    and time entries (`delivery.knowledge.services.figures`); nobody writes it."""

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="+")
    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="figures")
    value = models.FloatField(_("value"))

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["model", *KEY],
                                               name="one_figure_per_model_and_key")]
        indexes = [models.Index(fields=["family", "size", "quantity"], name="figures_by_family")]

    def __str__(self) -> str:
        return f"{self.family} {self.size} · {self.quantity} {self.value:g} {self.unit}"


class FigureRangeQuerySet(models.QuerySet):
    def visible_to(self, user) -> "FigureRangeQuerySet":
        """All of them for the firm's people; none for customers and for tokens of one
        engagement."""
        is_inside = allowed(user, Can.VIEW_INTERNAL) and not user.only_engagement_id
        return self if is_inside else self.none()


class FigureRange(FigureKey):
    """What was measured of a family with one chip, software and strategy, over engagements."""

    engagements = models.PositiveIntegerField(_("engagements"))
    samples = models.PositiveIntegerField(_("models"))
    minimum = models.FloatField(_("smallest"))
    median = models.FloatField(_("median"))
    maximum = models.FloatField(_("largest"))
    updated_at = models.DateTimeField(auto_now=True)

    objects = FigureRangeQuerySet.as_manager()

    class Meta:
        ordering = ["family", "size", "quantity", "pk"]
        constraints = [models.UniqueConstraint(fields=[*KEY], name="one_range_per_key")]
        indexes = [models.Index(fields=["family", "size", "quantity", "id"],
                                name="ranges_by_family"),
                   models.Index(fields=["quantity", "family", "size", "id"],
                                name="ranges_by_quantity"),
                   models.Index(fields=["chip", "family", "size", "quantity", "id"],
                                name="ranges_by_chip")]

    def __str__(self) -> str:
        return f"{self.family} {self.size} · {self.quantity}"


class FiguresRead(models.Model):
    """How far measurements, verdicts, time and the audit log have been read: one row."""

    measurement = models.PositiveBigIntegerField(default=0)
    verdict = models.PositiveBigIntegerField(default=0)
    baseline = models.PositiveBigIntegerField(default=0)
    time_entry = models.PositiveBigIntegerField(default=0)
    audit_entry = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.measurement} {self.verdict} {self.time_entry}"


def figure_in_unit(value: float, unit: str) -> str:
    """A figure with five significant digits in the unit that people read; a share in per cent."""
    scaled, suffix = (100 * value, " %") if unit == "%" else (value, unit)
    space = " " if suffix and suffix[0] not in " /" else ""
    return f"{figure_text(scaled, 5)}{space}{suffix}"
