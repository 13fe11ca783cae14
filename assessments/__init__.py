"""Curves, metric definitions, criteria and the verdicts computed from stored files."""
