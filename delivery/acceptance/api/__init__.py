"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.acceptance.api import regression, reviews, warranty

routes = [*reviews.routes, *warranty.routes, *regression.routes]

__all__ = ["routes"]
