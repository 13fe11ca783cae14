"""Reviews, signatures, contract terms, powers of attorney and third-party reports."""

from delivery.acceptance.models.blocker_waiver import BlockerWaiver
from delivery.acceptance.models.contract_terms import AcceptanceTerms, NoticeProof, PowerOfAttorney
from delivery.acceptance.models.follow_up import FollowUp
from delivery.acceptance.models.regression_run import RegressionJob, RegressionRun
from delivery.acceptance.models.review import (
    Condition,
    ModelDecision,
    Receipt,
    Review,
    ReviewComment,
)
from delivery.acceptance.models.signing import Identification, Seal, Signature, Signer
from delivery.acceptance.models.third_party_report import ThirdPartyReport
from delivery.acceptance.models.warranty_claim import WarrantyClaim

__all__ = [
    "AcceptanceTerms",
    "BlockerWaiver",
    "Condition",
    "FollowUp",
    "Identification",
    "ModelDecision",
    "NoticeProof",
    "PowerOfAttorney",
    "Receipt",
    "RegressionJob",
    "RegressionRun",
    "Review",
    "ReviewComment",
    "Seal",
    "Signature",
    "Signer",
    "ThirdPartyReport",
    "WarrantyClaim",
]
