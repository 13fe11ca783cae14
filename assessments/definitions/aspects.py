"""The aspect of a model that a quantity shows: function, accuracy, performance or stability."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.performance.gains import METRICS


class Aspect(models.TextChoices):
    """Columns of the coverage table of acceptance documents (DOMAIN 3.1)."""

    FUNCTION = "function", _("Function")
    ACCURACY = "accuracy", _("Accuracy")
    PERFORMANCE = "performance", _("Performance")
    STABILITY = "stability", _("Stability")


ASPECTS = {
    **dict.fromkeys((metric.name for metric in METRICS), Aspect.PERFORMANCE),
    **dict.fromkeys(("weight_files", "changed_parameters"), Aspect.FUNCTION),
    **dict.fromkeys((
        "loss_curve", "score", "grad_norm_mean", "min_cosine", "human_not_worse"), Aspect.ACCURACY),
    **dict.fromkeys(("finite_steps", "request_success"), Aspect.STABILITY),
}


def aspect_of(quantity: str) -> Aspect | None:
    """The aspect of a quantity such as `latency_ms` or `score:gsm8k`; None for an unknown one."""
    return ASPECTS.get(quantity.partition(":")[0])
