"""The REST API: one router assembled from each app's viewsets, and its OpenAPI document."""

from importlib import import_module

from django.urls import include, path
from drf_spectacular.views import (
    SpectacularAPIView,
    SpectacularRedocView,
    SpectacularSwaggerView,
)
from rest_framework.authtoken.models import Token
from rest_framework.authtoken.views import ObtainAuthToken
from rest_framework.routers import DefaultRouter
from rest_framework.settings import api_settings

from engagements.audit import audit_log

APPS = ("engagements", "workers", "assessments", "delivery.quotes", "delivery.reports",
        "delivery.acceptance", "delivery.evidence", "delivery.planning", "delivery.notices",
        "delivery.surveys",
        "delivery.next_steps", "delivery.portal", "delivery.demo")


def _router() -> DefaultRouter:
    router = DefaultRouter()
    router.include_format_suffixes = False  # no action takes a format
    for app in APPS:
        for prefix, viewset, basename in import_module(f"{app}.api").routes:
            router.register(prefix, viewset, basename=basename)
    return router


class TokenView(ObtainAuthToken):
    """A token for scripts, for a user name and a password."""

    parser_classes = api_settings.DEFAULT_PARSER_CLASSES

    def post(self, request, *args, **kwargs):
        answer = super().post(request, *args, **kwargs)
        user = Token.objects.select_related("user").get(key=answer.data["token"]).user
        audit_log.record(actor=user, action="user.token", target=user,
                         data={"from": request.META.get("REMOTE_ADDR", "")})
        return answer


urlpatterns = [
    path("v1/", include((_router().urls, "api"))),
    path("v1/token/", TokenView.as_view(), name="api-token"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="schema"), name="api-docs"),
    path("redoc/", SpectacularRedocView.as_view(url_name="schema"), name="api-redoc"),
]
