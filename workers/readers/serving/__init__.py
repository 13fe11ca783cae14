"""Readers of inference benchmarks."""
