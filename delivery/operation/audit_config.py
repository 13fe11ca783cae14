"""Which tables of this app the audit log tracks."""

from delivery.operation import models as own
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(own.DamagedFile, without=["seen_at"])
do_not_track({
    own.FileRound: "how far the walk through the stored files is; damage that it finds is tracked",
    own.EvidenceLock: "what the object store was told; the store itself holds the lock",
})
