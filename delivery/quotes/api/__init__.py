"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.quotes.api import frameworks, quotes

routes = [*quotes.routes, *frameworks.routes]

__all__ = ["routes"]
