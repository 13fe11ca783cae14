"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from engagements.api import duties, engagements, people, stages, tokens

routes = [*people.routes, *engagements.routes, *stages.routes, *duties.routes,
          *tokens.routes]
