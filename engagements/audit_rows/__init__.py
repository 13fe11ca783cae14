"""Which rows the audit log holds, and noticing their writes; below the models, which use it."""
