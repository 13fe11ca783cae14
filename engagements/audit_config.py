"""Which tables of this app have their rows in the audit log."""

from engagements import models as own
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(own.User, without=["password", "last_login"],  # a secret, and what each log-in writes
           is_confidential=True)
track_rows(own.Customer, own.Engagement, own.MigratedModel, own.Membership, own.StageRecord,
           own.StageTransition, own.StageAssignment, own.ChecklistItem,
           own.StageWaiver, own.Delegation, own.DutySetting, own.Agent)
track_rows(own.StageComment, is_confidential=True)
track_rows(own.ApiToken, without=["key_hash", "last_used_at", "last_used_from"],
           is_confidential=True)
_RIGHTS = "no right of anybody depends on it: what people may do follows from their roles"
do_not_track({
    own.SearchEntry: "words of rows that are tracked; it is made anew from them",
    own.IdempotentRequest: "an answer for a day; what the request did has its own entries",
    own.Lease: "which process sends the periodic tasks; nobody decides on it",
    own.ModelProgress: "a summary of stage records, which are tracked; it is made anew from them",
    own.AuditEntry: "the log itself: its entries are chained and sealed",
    own.AuditArchive: "the log itself: hashes and seals run through the file that it names",
    own.ArchivedEngagement: "an index of what archives hold; it is made anew from them",
    own.SignIn: "as short-lived as the session; signing in and out stands in the log itself",
    own.AuditChain: "the log itself: the end of its chain, sealed",
    own.User.groups.through: _RIGHTS,
    own.User.user_permissions.through: _RIGHTS,
})
