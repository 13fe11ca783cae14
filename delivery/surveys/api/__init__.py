"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.surveys.api.surveys import routes

__all__ = ["routes"]
