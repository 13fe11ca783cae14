"""Routes of documents."""

from django.urls import path

from delivery.reports.views import chains, documents, identities, lists, moves, texts

app_name = "reports"
DOCUMENT = "documents/<int:pk>/"
WORDING = "documents/wording/"

urlpatterns = [
    path("documents/", lists.document_list, name="list"),
    path("engagements/<str:code>/documents/", lists.engagement_documents, name="engagement"),
    path("engagements/<str:code>/documents/draft/", lists.document_draft, name="draft"),
    path(DOCUMENT, documents.document_page, name="document"),
    path(DOCUMENT + "words/", texts.document_words, name="words"),
    path(DOCUMENT + "submit/", moves.submit, name="submit"),
    path(DOCUMENT + "confirm/", moves.review, name="review"),
    path(DOCUMENT + "send-back/", moves.send_back, name="send_back"),
    path(DOCUMENT + "hand-over/", moves.hand_over, name="hand_over"),
    path(DOCUMENT + "co-sign/", moves.co_sign, name="co_sign"),
    path(DOCUMENT + "recall/", moves.recall, name="recall"),
    path(DOCUMENT + "issue/", moves.issue, name="issue"),
    path(DOCUMENT + "withdraw/", moves.withdraw, name="withdraw"),
    path(DOCUMENT + "refresh/", moves.refresh, name="refresh"),
    path(DOCUMENT + "discard/", moves.discard, name="discard"),
    path(DOCUMENT + "correct/", moves.correct, name="correct"),
    path(DOCUMENT + "progress/", documents.document_progress, name="progress"),
    path(DOCUMENT + "repeat/", moves.repeat, name="repeat"),
    path(DOCUMENT + "preview/", moves.preview_order, name="preview_order"),
    path(DOCUMENT + "preview/<str:language>.pdf", documents.document_preview, name="preview"),
    path("documents/files/<int:pk>/", documents.document_file, name="file"),
    path("documents/chains/", chains.chain_list, name="chains"),
    path("documents/chains/<str:code>/", chains.chain_edit, name="chain"),
    path("documents/chains/<str:code>/reset/", chains.chain_reset, name="chain_reset"),
    path("documents/identity/", identities.identity_list, name="identities"),
    path("documents/identity/firm/", identities.firm, name="identity_firm"),
    path("documents/identity/firm/preview/", identities.firm_preview, name="preview_firm"),
    path("documents/identity/<int:pk>/", identities.customer, name="identity"),
    path("documents/identity/<int:pk>/preview/", identities.customer_preview,
         name="preview_customer"),
    path(WORDING, texts.wording_list, name="wordings"),
    path(WORDING + "<slug:code>/", texts.wording_edit, name="wording"),
    path(WORDING + "<slug:code>/preview/", texts.wording_preview, name="wording_preview"),
    path(WORDING + "<slug:code>/reset/", texts.wording_reset, name="wording_reset"),
]
