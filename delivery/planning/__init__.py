"""Effort, plan, changes, time and project control of an engagement."""
