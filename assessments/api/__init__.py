"""REST doors of this app: `routes` holds prefix, viewset and base name of each."""

from assessments.api import criteria, drill, performance

routes = [
    *criteria.routes,
    *drill.routes,
    *performance.routes,
]
