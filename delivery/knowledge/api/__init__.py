"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.knowledge.api import cases, figures

routes = [*cases.routes, *figures.routes]
