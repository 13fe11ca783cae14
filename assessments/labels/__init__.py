"""Verdicts and figures in words, as pages and documents show them."""
