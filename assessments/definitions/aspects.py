"""The aspect of a model that a quantity shows: function, accuracy, performance or stability."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from toolreaders.verdicts.quantity_rows import row_of


class Aspect(models.TextChoices):
    """Columns of the coverage table of acceptance documents (DOMAIN 3.1)."""

    FUNCTION = "function", _("Function")
    ACCURACY = "accuracy", _("Accuracy")
    PERFORMANCE = "performance", _("Performance")
    STABILITY = "stability", _("Stability")


def aspect_of(quantity: str) -> Aspect | None:
    """The aspect of a quantity such as `latency_ms` or `score:gsm8k`; None for an unknown one."""
    row = row_of(quantity)
    return Aspect(row.aspect) if row else None
