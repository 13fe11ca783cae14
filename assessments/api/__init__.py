"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from assessments.api import accuracy, criteria, performance

routes = [
    *criteria.routes,
    *accuracy.routes,
    *performance.routes,
]
