"""The REST API: one router assembled from each app's viewsets, and its OpenAPI document."""

from importlib import import_module

from django.urls import include, path
from rest_framework.routers import DefaultRouter

from delivery.openapi.views import DocsView, SchemaView
from engagements.api.tokens import TokenView

APPS = ("engagements", "workers", "assessments", "delivery.quotes", "delivery.agreement",
        "delivery.reports", "delivery.acceptance", "delivery.invoicing", "delivery.evidence",
        "delivery.planning", "delivery.knowledge",
        "delivery.notices", "delivery.surveys", "delivery.operation", "delivery.documents",
        "delivery.next_steps", "delivery.portal", "delivery.demo")


def _router() -> DefaultRouter:
    router = DefaultRouter()
    router.include_format_suffixes = False  # no action takes a format
    for app in APPS:
        for prefix, viewset, basename in import_module(f"{app}.api").routes:
            router.register(prefix, viewset, basename=basename)
    return router


urlpatterns = [
    path("v1/", include((_router().urls, "api"))),
    path("v1/token/", TokenView.as_view(), name="api-token"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view(), name="api-docs"),
]
