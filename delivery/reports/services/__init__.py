"""Writes of this app: drafting, the approval chain, issuing, rendering, standard texts."""

from delivery.reports.services.approval_chains import reset_chain, save_chain
from delivery.reports.services.approvals import (
    add_co_signer,
    hand_over_review,
    recall_document,
    review_document,
    send_back_document,
    submit_document,
    withdraw_document,
)
from delivery.reports.services.chart_drawing import draw_pictures
from delivery.reports.services.deliverables import (
    add_deliverable,
    fulfil_deliverable,
    list_agreed,
    reopen_deliverable,
    update_deliverable,
)
from delivery.reports.services.drafts import (
    discard_draft,
    draft_acceptance,
    draft_correction,
    draft_document,
    draft_test_report,
    refresh_draft,
    write_words,
)
from delivery.reports.services.files import store_file
from delivery.reports.services.issuing import issue_document, order_issue
from delivery.reports.services.render_jobs import (
    order_preview,
    requeue_render_jobs,
    take_render_job,
)
from delivery.reports.services.standard_texts import reset_standard_text, save_standard_text

__all__ = [
    "add_co_signer",
    "add_deliverable",
    "discard_draft",
    "draft_acceptance",
    "draft_correction",
    "draft_document",
    "draft_test_report",
    "draw_pictures",
    "fulfil_deliverable",
    "hand_over_review",
    "issue_document",
    "list_agreed",
    "order_issue",
    "order_preview",
    "recall_document",
    "refresh_draft",
    "reopen_deliverable",
    "requeue_render_jobs",
    "reset_chain",
    "reset_standard_text",
    "review_document",
    "save_chain",
    "save_standard_text",
    "send_back_document",
    "store_file",
    "submit_document",
    "take_render_job",
    "update_deliverable",
    "withdraw_document",
    "write_words",
]
