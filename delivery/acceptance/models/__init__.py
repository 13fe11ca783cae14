from delivery.acceptance.models.bundle import EvidenceBundle
from delivery.acceptance.models.contract import AcceptanceTerms, NoticeProof, PowerOfAttorney
from delivery.acceptance.models.review import (
    Condition,
    ModelDecision,
    Receipt,
    Review,
    ReviewComment,
)
from delivery.acceptance.models.signing import Identification, Seal, Signature, Signer
from delivery.acceptance.models.third_party import ThirdPartyReport

__all__ = [
    "AcceptanceTerms",
    "Condition",
    "EvidenceBundle",
    "Identification",
    "ModelDecision",
    "NoticeProof",
    "PowerOfAttorney",
    "Receipt",
    "Review",
    "ReviewComment",
    "Seal",
    "Signature",
    "Signer",
    "ThirdPartyReport",
]
