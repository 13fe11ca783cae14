"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.quotes.api.quotes import routes

__all__ = ["routes"]
