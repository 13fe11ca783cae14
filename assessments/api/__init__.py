"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from assessments.api import accuracy, criteria, human_evaluation, performance

routes = [
    *criteria.routes,
    *accuracy.routes,
    *human_evaluation.routes,
    *performance.routes,
]
