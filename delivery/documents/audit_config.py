"""Which tables of this app the audit log tracks."""

from delivery.documents import models as own
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(own.BrandingVersion, own.CompanyProfile)
track_rows(own.Currency, own.StaffCertificate, is_confidential=True)
do_not_track({
    own.FailedFile: "a file that could not be made yet; that it failed for good is an entry",
})
