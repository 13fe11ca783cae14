"""Every route of the product, by app."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.i18n import set_language

handler400 = "delivery.portal.error_pages.request_page"
handler500 = "delivery.portal.error_pages.error_page"

urlpatterns = [
    path("login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("i18n/setlang/", login_not_required(set_language), name="set_language"),
    path("admin/", admin.site.urls),
    path("api/", include("delivery.api")),
    path("engagements/", include("engagements.urls")),
    path("", include("engagements.people_urls")),
    path("", include("workers.urls")),
    path("", include("assessments.urls")),
    path("", include("delivery.documents.urls")),
    path("", include("delivery.quotes.urls")),
    path("", include("delivery.reports.urls")),
    path("", include("delivery.acceptance.urls")),
    path("", include("delivery.evidence.urls")),
    path("", include("delivery.planning.urls")),
    path("", include("delivery.notices.urls")),
    path("", include("delivery.surveys.urls")),
    path("", include("delivery.demo.urls")),
    path("", include("delivery.portal.urls")),
    path("", include("delivery.operation.urls")),
]
