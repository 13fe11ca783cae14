"""Readers of evaluation results."""
