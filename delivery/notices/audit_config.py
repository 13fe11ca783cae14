"""Which tables of this app have their rows in the audit log: what people decided about messages.

That a notice reached its addressee is proven by a table of acceptance, which is tracked.
"""

from delivery.notices import models as own
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(own.Preference, own.MailSetting, is_confidential=True)
track_rows(own.Channel, without=["url", "secret", "previous_secret",  # secrets
                                # how much may be sent just now, and how it went
                                "tokens", "refilled_at", "failures"], is_confidential=True)
do_not_track({
    own.Event: "made from an entry of the log, or from a contact with a node",
    own.Notice: "an event in somebody's inbox, and whether he has opened it",
    own.Dispatch: "a message on its way: whose turn it is, and how often it was tried",
    own.SendAttempt: "what a machine elsewhere answered; for whoever mends a channel",
})
