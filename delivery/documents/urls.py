"""Routes of what all documents share."""

from django.urls import path

from delivery.documents.views import company

app_name = "documents"

urlpatterns = [path("documents/company/", company.company, name="company")]
