"""Writes of branding. Each function owns its transaction, lock and audit entry."""
