"""Readers of training logs: loss curves of all frameworks."""
