"""Undo of what was just done: which actions can be taken back, and the service that does it."""
