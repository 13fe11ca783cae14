"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.reports.api import deliverables, documents

routes = [*documents.routes, *deliverables.routes]

__all__ = ["routes"]
