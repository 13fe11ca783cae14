"""Routes of documents."""

from django.urls import path

from delivery.reports import views

app_name = "reports"
DOCUMENT = "documents/<int:pk>/"

urlpatterns = [
    path("documents/", views.document_list, name="list"),
    path("engagements/<str:code>/documents/", views.engagement_documents, name="engagement"),
    path("engagements/<str:code>/documents/draft/", views.document_draft, name="draft"),
    path(DOCUMENT, views.document_page, name="document"),
    path(DOCUMENT + "issue/", views.document_issue, name="issue"),
    path(DOCUMENT + "refresh/", views.document_refresh, name="refresh"),
    path(DOCUMENT + "discard/", views.document_discard, name="discard"),
    path(DOCUMENT + "correct/", views.document_correct, name="correct"),
    path(DOCUMENT + "preview/<str:language>.pdf", views.document_preview, name="preview"),
    path("documents/files/<int:pk>/", views.document_file, name="file"),
]
