"""REST endpoints of branding and of the staff's certificates."""

from delivery.documents.api import certificates

routes = certificates.routes
