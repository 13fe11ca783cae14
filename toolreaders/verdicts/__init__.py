"""Figures and verdicts: the pure arithmetic, without rounding."""
