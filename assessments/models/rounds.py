"""The optimisation history: one round is one change and the run measured after it."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.models.criteria import OfModelQuerySet
from engagements.models import MigratedModel
from workers.models import Artifact


class OptimisationRound(models.Model):
    """Collect, analyse, change, measure again. Holds no figure: those are measurements.

    Round 0 is the run before any change. `technique` and `configuration`: see
    `performance.techniques`, which types them.
    """

    class Area(models.TextChoices):
        """Where the change was made (the sections of the optimisation guide)."""

        START = "start", _("Starting point")
        OPERATOR = "operator", _("Operators")
        QUANTISATION = "quantisation", _("Quantisation")
        MEMORY = "memory", _("Memory")
        PARALLEL = "parallel", _("Parallel strategy")
        COMMUNICATION = "communication", _("Communication")
        COMPILATION = "compilation", _("Compilation")
        DATA = "data", _("Data loading")
        OTHER = "other", _("Other")

    class Technique(models.TextChoices):
        PARALLEL = "parallel", _("Parallel strategy")
        ADAPTIVE_MEMORY = "adaptive_memory", _("Automatic memory management (AMC)")
        TIERED_MEMORY = "tiered_memory", _("Tiered memory (HBM and DDR)")
        COMPUTE = "compute", _("Operators of one's own")
        COMPRESSION = "compression", _("Compressed communication")
        COMPILATION = "compilation", _("Compilation of the graph")
        QUANTISATION = "quantisation", _("Quantisation-aware training (QAT)")

    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="optimisation_rounds")
    number = models.PositiveSmallIntegerField(_("round"))
    area = models.CharField(_("area"), max_length=16, choices=Area)
    finding = models.TextField(_("what the analysis showed"), blank=True)
    change = models.TextField(_("what was changed"), blank=True)
    technique = models.CharField(_("technique"), max_length=20, choices=Technique, blank=True)
    configuration = models.JSONField(_("settings of the technique"), default=dict, blank=True)
    profile = models.ForeignKey(Artifact, models.PROTECT, null=True, blank=True,
                                related_name="+", verbose_name=_("profile or analysis"))
    artifact = models.ForeignKey(Artifact, models.PROTECT, related_name="optimisation_rounds",
                                 verbose_name=_("file of the measured run"))
    is_kept = models.BooleanField(_("kept"), default=True)
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    recorded_at = models.DateTimeField(auto_now_add=True)

    objects = OfModelQuerySet.as_manager()

    class Meta:
        ordering = ["model", "number"]
        constraints = [
            models.UniqueConstraint(fields=["model", "number"], name="round_number_unique"),
            models.UniqueConstraint(fields=["model", "artifact"], name="one_round_per_run"),
        ]

    def __str__(self) -> str:
        return f"{self.model} · {self.number}"
