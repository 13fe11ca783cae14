"""Routes of evidence bundles."""

from django.urls import path

from delivery.evidence import views

app_name = "evidence"

urlpatterns = [
    path("documents/<int:pk>/bundle/", views.bundle_build, name="bundle_build"),
    path("bundles/<int:pk>/", views.bundle, name="bundle"),
    path("verifier/", views.verifier, name="verifier"),
]
