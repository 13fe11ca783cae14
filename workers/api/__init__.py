"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from workers.api import artifacts, chains, jobs, nodes, rules

routes = [
    *nodes.routes,
    *jobs.routes,
    *artifacts.routes,
    *chains.routes,
    *rules.routes,
]
