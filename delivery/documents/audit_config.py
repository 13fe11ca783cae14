"""Which tables of this app the audit log tracks: all of them."""

from delivery.documents.models import BrandingVersion, CompanyProfile, Currency
from engagements.audit_rows.tracking import track_rows

track_rows(BrandingVersion, CompanyProfile, Currency)
