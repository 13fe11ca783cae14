"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.acceptance.api.reviews import routes

__all__ = ["routes"]
