"""Management commands of acceptance."""
