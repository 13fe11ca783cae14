"""Writes of planning. Each function owns its transaction, lock and audit entry."""
