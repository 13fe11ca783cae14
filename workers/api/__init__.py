"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from workers.api import (
    agents,
    api_routes,
    artifacts,
    chains,
    job_templates,
    jobs,
    node_calendar,
    node_imports,
    node_samples,
    nodes,
    rules,
    runtimes,
    uploads,
)

routes = [
    *agents.routes,
    *nodes.routes,
    *node_imports.routes,
    *node_calendar.routes,
    *node_samples.routes,
    *jobs.routes,
    *job_templates.routes,
    *runtimes.routes,
    *artifacts.routes,
    *uploads.routes,
    *chains.routes,
    *rules.routes,
    *api_routes.routes,
]
