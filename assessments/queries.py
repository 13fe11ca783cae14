"""Reads of this app. Being written now."""
