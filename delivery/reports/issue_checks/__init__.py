"""Checks that a document passes before it is issued."""
