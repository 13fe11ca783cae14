"""Routes of what all documents share."""

from django.urls import path

from delivery.documents.views import certificates, company

app_name = "documents"

urlpatterns = [
    path("documents/company/", company.company, name="company"),
    path("certificates/", certificates.certificates, name="certificates"),
    path("certificates/<int:pk>/file/", certificates.certificate_file, name="certificate_file"),
    path("certificates/<int:pk>/remove/", certificates.certificate_remove,
         name="certificate_remove"),
]
