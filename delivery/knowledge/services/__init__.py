"""Writes of solved cases."""
