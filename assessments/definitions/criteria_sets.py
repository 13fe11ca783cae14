"""Ready sets of criteria: thresholds that a published method requires together."""

from dataclasses import dataclass
from decimal import Decimal

from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.stages import Stage


class ReadySet(models.TextChoices):
    """`optimisation`: the four figures that the public rounds of tuning of a GPT model require
    (seed S3: 2.2, 3.1, 4.1, 5.1)."""

    OPTIMISATION = "optimisation", _("Optimisation: score loss ≤ 1.5 %, peak memory −30 %, "
                                     "scaling ≥ 80 %, latency −20 %")


@dataclass(frozen=True)
class ReadyCriterion:
    """One threshold, as a fraction; `codes`: the definitions it may be, the first of which a
    baseline of the model serves is taken, else the first."""

    codes: tuple[str, ...]
    threshold: Decimal
    stage: Stage


READY: dict[str, tuple[ReadyCriterion, ...]] = {ReadySet.OPTIMISATION: (
    ReadyCriterion(("score_degradation",), Decimal("0.015"), Stage.TRAIN_TUNE),
    ReadyCriterion(("peak_memory_reduction",), Decimal("0.30"), Stage.TRAIN_TUNE),
    ReadyCriterion(("scaling_efficiency",), Decimal("0.80"), Stage.TRAIN_TUNE),
    ReadyCriterion(("token_latency_reduction", "latency_reduction"), Decimal("0.20"),
                   Stage.INFER_TUNE),
)}
