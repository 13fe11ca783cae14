"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.reports.api.documents import routes

__all__ = ["routes"]
