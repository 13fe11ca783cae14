"""REST endpoints that span the apps: `routes` holds prefix, viewset and base name of each."""

from delivery.portal.audit.api import AuditArchiveViewSet, AuditViewSet
from delivery.portal.home.api import routes as home_routes
from delivery.portal.invitations.api import routes as invitation_routes
from delivery.portal.learning.api import routes as learning_routes
from delivery.portal.portfolio.api import routes as portfolio_routes
from delivery.portal.search.api import SearchViewSet

routes = [
    ("search", SearchViewSet, "search"),
    ("audit-archives", AuditArchiveViewSet, "audit-archive"),
    ("audit-entries", AuditViewSet, "audit-entry"),
    *home_routes,
    *invitation_routes,
    *learning_routes,
    *portfolio_routes,
]
