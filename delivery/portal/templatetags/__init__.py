"""The template library of the audit log."""
