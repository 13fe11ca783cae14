"""Readers of profiles, memory and scaling tables."""
