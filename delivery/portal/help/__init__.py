"""The user guide within the portal, written in docs/guide."""
