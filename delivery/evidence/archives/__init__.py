"""Zip archives whose bytes follow from their entries: written, read safely, compared."""
