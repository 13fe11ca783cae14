"""Figures as people write them: few digits, powers of ten instead of an exponent."""

import math

RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
WRITTEN_OUT = 1e15


def figure_text(value: float, digits: int = 6) -> str:
    """The figure with so many significant digits, as `0.0215461`, `1250000` or `1 × 10⁻⁷`."""
    if not math.isfinite(value):
        return str(value)
    mantissa, has_exponent, exponent = f"{value:.{digits}g}".partition("e")
    if not has_exponent:
        return mantissa
    if 1 <= abs(value) < WRITTEN_OUT:
        return f"{value:.0f}"
    return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}"
