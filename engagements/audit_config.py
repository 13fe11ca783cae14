"""Which tables of this app have their rows in the audit log."""

from engagements import models as own
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(own.User, without=["password", "last_login"])  # a secret, and what each log-in writes
track_rows(own.Customer, own.Engagement, own.MigratedModel, own.Membership, own.StageRecord,
           own.StageTransition, own.ChecklistItem, own.StageWaiver,
           own.DutySetting)
_RIGHTS = "no right of anybody depends on it: what people may do follows from their roles"
do_not_track({
    own.AuditEntry: "the log itself: its entries are chained and sealed",
    own.AuditChain: "the log itself: the end of its chain, sealed",
    own.User.groups.through: _RIGHTS,
    own.User.user_permissions.through: _RIGHTS,
})
