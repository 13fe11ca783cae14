"""Delivery Desk in a terminal: engagements, jobs, files and verdicts by the REST API."""

__version__ = "1.0.0"
