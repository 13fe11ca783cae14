"""Checking a bundle from its own files, and the audit log from the database."""
