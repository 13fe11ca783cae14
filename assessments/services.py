"""Writes of this app: definitions, criteria, baselines. Being written now."""
