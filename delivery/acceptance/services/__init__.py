"""Writes of this app: review, decision, signature, contract's terms and signed copies."""

from delivery.acceptance.services.comments import comment, resolve_comment
from delivery.acceptance.services.conditions import close_condition, report_condition
from delivery.acceptance.services.contract_terms import set_terms
from delivery.acceptance.services.decisions import decide
from delivery.acceptance.services.deemed_acceptance import record_deemed_acceptance, record_notice
from delivery.acceptance.services.identification import begin_signing
from delivery.acceptance.services.powers_of_attorney import (
    end_power_of_attorney,
    record_power_of_attorney,
)
from delivery.acceptance.services.receipts import confirm_receipt
from delivery.acceptance.services.reviews import open_review
from delivery.acceptance.services.signatures import decline, name_signers, sign
from delivery.acceptance.services.signed_copies import complete_signed_copies, store_signed_copies
from delivery.acceptance.services.third_party_reports import (
    attach_third_party_report,
    withdraw_third_party_report,
)
from delivery.acceptance.services.warranty_claims import close_claim, raise_claim, report_repair

__all__ = [
    "attach_third_party_report",
    "begin_signing",
    "close_claim",
    "close_condition",
    "comment",
    "complete_signed_copies",
    "confirm_receipt",
    "decide",
    "decline",
    "end_power_of_attorney",
    "name_signers",
    "open_review",
    "raise_claim",
    "record_deemed_acceptance",
    "record_notice",
    "record_power_of_attorney",
    "report_condition",
    "report_repair",
    "resolve_comment",
    "set_terms",
    "sign",
    "store_signed_copies",
    "withdraw_third_party_report",
]
