"""Routes of documents."""

from django.urls import path

from delivery.documents.views import branding
from delivery.reports.views import (
    approval_chains,
    deliverables,
    documents,
    lists,
    texts,
    transitions,
)

app_name = "reports"
DOCUMENT = "documents/<int:pk>/"
DELIVERABLE = "deliverables/<int:pk>/"
STANDARD_TEXTS = "documents/standard-texts/"

urlpatterns = [
    path("documents/", lists.document_list, name="list"),
    path("engagements/<str:code>/documents/", lists.engagement_documents, name="engagement"),
    path("engagements/<str:code>/documents/draft/", lists.document_draft, name="draft"),
    path("engagements/<str:code>/deliverables/", deliverables.deliverable_list,
         name="deliverables"),
    path("engagements/<str:code>/deliverables/agreed/", deliverables.deliverables_from_survey,
         name="deliverables_agreed"),
    path("engagements/<str:code>/deliverables/new/", deliverables.deliverable_new,
         name="deliverable_new"),
    path(DELIVERABLE, deliverables.deliverable_edit, name="deliverable"),
    path(DELIVERABLE + "proof/", deliverables.deliverable_proof, name="deliverable_proof"),
    path(DELIVERABLE + "reopen/", deliverables.deliverable_reopen, name="deliverable_reopen"),
    path(DOCUMENT, documents.document_page, name="document"),
    path(DOCUMENT + "problems/", documents.document_problems, name="problems"),
    path(DOCUMENT + "texts/", texts.document_texts, name="texts"),
    path(DOCUMENT + "submit/", transitions.submit, name="submit"),
    path(DOCUMENT + "confirm/", transitions.review, name="review"),
    path(DOCUMENT + "send-back/", transitions.send_back, name="send_back"),
    path(DOCUMENT + "hand-over/", transitions.hand_over, name="hand_over"),
    path(DOCUMENT + "co-sign/", transitions.co_sign, name="co_sign"),
    path(DOCUMENT + "recall/", transitions.recall, name="recall"),
    path(DOCUMENT + "issue/", transitions.issue, name="issue"),
    path(DOCUMENT + "withdraw/", transitions.withdraw, name="withdraw"),
    path(DOCUMENT + "refresh/", transitions.refresh, name="refresh"),
    path(DOCUMENT + "discard/", transitions.discard, name="discard"),
    path(DOCUMENT + "correct/", transitions.correct, name="correct"),
    path(DOCUMENT + "progress/", documents.document_progress, name="progress"),
    path(DOCUMENT + "repeat/", transitions.repeat, name="repeat"),
    path(DOCUMENT + "preview/", transitions.preview_order, name="preview_order"),
    path(DOCUMENT + "preview/<str:language>.pdf", documents.document_preview, name="preview"),
    path("documents/files/<int:pk>/", documents.document_file, name="file"),
    path("documents/chains/", approval_chains.chain_list, name="chains"),
    path("documents/chains/<str:code>/", approval_chains.chain_edit, name="chain"),
    path("documents/chains/<str:code>/reset/", approval_chains.chain_reset, name="chain_reset"),
    path("documents/branding/", branding.branding_list, name="branding_list"),
    path("documents/branding/firm/", branding.firm, name="branding_firm"),
    path("documents/branding/firm/preview/", branding.firm_preview, name="preview_firm"),
    path("documents/branding/<int:pk>/", branding.customer, name="branding"),
    path("documents/branding/<int:pk>/preview/", branding.customer_preview,
         name="preview_customer"),
    path(STANDARD_TEXTS, texts.standard_text_list, name="standard_texts"),
    path(STANDARD_TEXTS + "<slug:code>/", texts.standard_text_edit, name="standard_text"),
    path(STANDARD_TEXTS + "<slug:code>/preview/", texts.standard_text_preview,
         name="standard_text_preview"),
    path(STANDARD_TEXTS + "<slug:code>/reset/", texts.standard_text_reset,
         name="standard_text_reset"),
]
