"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.acceptance.api import reviews, warranty

routes = [*reviews.routes, *warranty.routes]

__all__ = ["routes"]
