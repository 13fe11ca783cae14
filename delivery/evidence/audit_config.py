"""The tables of this app that the audit log tracks."""

from delivery.evidence.models import EvidenceBundle
from engagements.audit_rows.tracking import track_rows

track_rows(EvidenceBundle)
