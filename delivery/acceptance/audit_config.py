"""The tables of this app that the audit log tracks: all of them."""

from delivery.acceptance import models as own
from engagements.audit_rows.tracking import track_rows

track_rows(own.AcceptanceTerms, own.BlockerWaiver, own.Condition, own.FollowUp, own.ModelDecision,
           own.NoticeProof, own.PowerOfAttorney, own.Receipt, own.RegressionJob,
           own.RegressionRun, own.Review,
           own.Seal, own.Signature, own.Signer, own.ThirdPartyReport, own.WarrantyClaim)
track_rows(own.ReviewComment, is_confidential=True)  # some are internal
track_rows(own.Identification, without=["salt", "code_hash", "attempts"])  # of a secret code
