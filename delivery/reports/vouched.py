"""Which tables of this app the audit log vouches for."""

from delivery.reports import models as own
from engagements.vouching import do_not_vouch_for, vouch_for

vouch_for(own.Document, own.DocumentStep, own.DocumentFile, own.Turn, own.ChainStep, own.Identity,
          own.Wording)
do_not_vouch_for({
    own.RenderOrder: "a file to be made, and who is making it; the file made is vouched for",
})
