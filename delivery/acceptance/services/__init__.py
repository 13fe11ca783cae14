"""Writes of this app: review, decision, signature, contract's terms and signed copies."""

from delivery.acceptance.services.blocker_waivers import (
    draft_blocker_waiver,
    revoke_blocker_waiver,
    sign_blocker_waiver,
)
from delivery.acceptance.services.comments import comment, resolve_comment
from delivery.acceptance.services.conditions import (
    close_condition,
    reopen_condition,
    report_condition,
    send_back_condition,
)
from delivery.acceptance.services.contract_terms import set_terms
from delivery.acceptance.services.decisions import decide
from delivery.acceptance.services.deemed_acceptance import record_deemed_acceptance, record_notice
from delivery.acceptance.services.follow_ups import (
    comment_issue,
    report_trial_issue,
    resolve_issue,
    trial_of,
)
from delivery.acceptance.services.identification import begin_signing
from delivery.acceptance.services.powers_of_attorney import (
    end_power_of_attorney,
    record_power_of_attorney,
)
from delivery.acceptance.services.receipts import confirm_receipt
from delivery.acceptance.services.reviews import open_review
from delivery.acceptance.services.signatures import (
    decline,
    delegate,
    name_signers,
    sign,
)
from delivery.acceptance.services.signed_copies import complete_signed_copies, store_signed_copies
from delivery.acceptance.services.third_party_reports import (
    attach_third_party_report,
    withdraw_third_party_report,
)
from delivery.acceptance.services.warranty_claims import (
    close_claim,
    raise_claim,
    report_repair,
    send_back_claim,
    take_claim,
)

__all__ = [
    "attach_third_party_report",
    "begin_signing",
    "close_claim",
    "close_condition",
    "comment",
    "comment_issue",
    "complete_signed_copies",
    "confirm_receipt",
    "decide",
    "decline",
    "delegate",
    "draft_blocker_waiver",
    "end_power_of_attorney",
    "name_signers",
    "open_review",
    "raise_claim",
    "record_deemed_acceptance",
    "record_notice",
    "record_power_of_attorney",
    "reopen_condition",
    "report_condition",
    "report_repair",
    "report_trial_issue",
    "resolve_comment",
    "resolve_issue",
    "revoke_blocker_waiver",
    "send_back_claim",
    "send_back_condition",
    "set_terms",
    "sign",
    "sign_blocker_waiver",
    "store_signed_copies",
    "take_claim",
    "trial_of",
    "withdraw_third_party_report",
]
