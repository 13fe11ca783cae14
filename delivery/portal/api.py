"""REST endpoints that span the apps: `routes` holds prefix, viewset and base name of each."""

from delivery.portal.audit.api import AuditViewSet
from delivery.portal.inbox.api import InboxViewSet
from delivery.portal.search.api import SearchViewSet

routes = [
    ("desk", InboxViewSet, "desk"),
    ("search", SearchViewSet, "search"),
    ("audit-entries", AuditViewSet, "audit-entry"),
]
