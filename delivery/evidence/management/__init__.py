"""Management commands of evidence bundles."""
