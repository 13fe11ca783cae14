"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from engagements.api import delegations, duties, engagements, people, stages, tokens

routes = [*people.routes, *engagements.routes, *stages.routes, *duties.routes, *delegations.routes,
          *tokens.routes]
