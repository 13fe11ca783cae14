"""Readers of accuracy tools: msprobe, msaccucmp, overflow findings."""
