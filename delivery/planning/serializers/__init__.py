"""Effort, time, plans, control and changes as the API shows them, by topic."""
