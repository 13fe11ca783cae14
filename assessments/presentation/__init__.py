"""Verdicts, calculations and previews in words, as pages and documents show them."""
