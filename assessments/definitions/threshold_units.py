"""Thresholds of percentages: which numbers could be per cent as well as a fraction."""

from decimal import Decimal

from django.db.models import TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assessments.models import MetricDefinition
from engagements.errors import InvalidInput
from toolreaders.verdicts.sentences import in_unit, scale_of

# Fractions that are usual as thresholds. Each span is less than a hundredfold: a number inside
# it would lie outside if it had been meant in the other unit.
_ERRORS = (Decimal("0.003"), Decimal("0.25"))
_SHARES = (Decimal("0.05"), Decimal(1))
USUAL: dict[str, tuple[Decimal, Decimal]] = {
    "loss_curve": _ERRORS, "relative_error": _ERRORS, "degradation": _ERRORS, "points": _ERRORS,
    "ratio": (Decimal("0.05"), Decimal(4)), "reduction": _SHARES, "scaling": _SHARES,
    "value": _SHARES,
}


class ThresholdUnit(TextChoices):
    """The unit that a threshold of a percentage is stated in."""

    FRACTION = "fraction", gettext_lazy("fraction (0.02 is 2 %)")
    PERCENT = "percent", gettext_lazy("per cent or percentage points (2 is 2 %)")


def threshold_of(definition: MetricDefinition, threshold: Decimal, unit: str) -> Decimal:
    """The threshold as it is kept: a fraction for figures in per cent.

    Args:
        unit: a ThresholdUnit; without one the threshold is a fraction.

    Raises InvalidInput for a threshold of a percentage that is unusual and has no unit, and for
    per cent of what is no percentage.
    """
    threshold = Decimal(threshold)
    if scale_of(definition.unit) == 1:
        if unit == ThresholdUnit.PERCENT:
            raise InvalidInput(_("“%(metric)s” is no percentage: leave the unit of its threshold "
                                 "out.") % {"metric": definition.localized_name})
        return threshold
    if unit == ThresholdUnit.PERCENT:
        return threshold / scale_of(definition.unit)
    least, most = USUAL[definition.calculator]
    if not unit and threshold and not least <= abs(threshold) <= most:
        raise InvalidInput(_(
            "%(limit)s is an unusual threshold of “%(metric)s”: the unit may be mistaken. State "
            "whether the number is a fraction or per cent.") % {
            "limit": in_unit(threshold, definition.unit), "metric": definition.localized_name})
    return threshold
