"""Writes of this app: review, decision, signature, contract's terms, copies and bundles."""

from delivery.acceptance.services.bundles import build_bundle
from delivery.acceptance.services.comments import comment, resolve_comment
from delivery.acceptance.services.conditions import close_condition, report_condition
from delivery.acceptance.services.contract_terms import (
    record_deemed_acceptance,
    record_notice,
    set_terms,
)
from delivery.acceptance.services.decisions import decide
from delivery.acceptance.services.identification import begin_signing
from delivery.acceptance.services.powers_of_attorney import end_power, record_power
from delivery.acceptance.services.receipts import confirm_receipt
from delivery.acceptance.services.reviews import open_review
from delivery.acceptance.services.signatures import sign
from delivery.acceptance.services.signed_copies import complete_signed_copies, store_signed_copies
from delivery.acceptance.services.signers import decline, name_signers
from delivery.acceptance.services.third_party import (
    attach_third_party_report,
    withdraw_third_party_report,
)

__all__ = [
    "attach_third_party_report",
    "begin_signing",
    "build_bundle",
    "close_condition",
    "comment",
    "complete_signed_copies",
    "confirm_receipt",
    "decide",
    "decline",
    "end_power",
    "name_signers",
    "open_review",
    "record_deemed_acceptance",
    "record_notice",
    "record_power",
    "report_condition",
    "resolve_comment",
    "set_terms",
    "sign",
    "store_signed_copies",
    "withdraw_third_party_report",
]
