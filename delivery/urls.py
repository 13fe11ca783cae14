"""Every route of the product, by app."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.generic import RedirectView
from django.views.i18n import set_language

from delivery.sign_on import settings as sign_on

handler400 = "delivery.portal.error_pages.request_page"
handler404 = "delivery.portal.error_pages.not_found_page"
handler500 = "delivery.portal.error_pages.error_page"

if sign_on.IS_ON:
    sign_in = [path("", include("delivery.sign_on.urls")),
               path("account/provider/", include("delivery.sign_on.provider_urls"))]
else:
    sign_in = [path("login/", auth.LoginView.as_view(redirect_authenticated_user=True),
                    name="login")]

urlpatterns = [
    *sign_in,
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("i18n/setlang/", login_not_required(set_language), name="set_language"),
    # Where wrong old passwords are counted, and the audit log hears of the new one.
    path("admin/password_change/", RedirectView.as_view(pattern_name="people:password")),
    path("admin/", admin.site.urls),
    path("api/", include("delivery.api")),
    path("engagements/", include("engagements.urls")),
    path("", include("engagements.people_urls")),
    path("", include("workers.urls")),
    path("", include("assessments.urls")),
    path("", include("delivery.documents.urls")),
    path("", include("delivery.quotes.urls")),
    path("", include("delivery.agreement.urls")),
    path("", include("delivery.reports.urls")),
    path("", include("delivery.acceptance.urls")),
    path("", include("delivery.invoicing.urls")),
    path("", include("delivery.evidence.urls")),
    path("", include("delivery.planning.urls")),
    path("", include("delivery.knowledge.urls")),
    path("", include("delivery.notices.urls")),
    path("", include("delivery.surveys.urls")),
    path("", include("delivery.demo.urls")),
    path("", include("delivery.portal.urls")),
    path("", include("delivery.operation.urls")),
    path("", include("delivery.undo.urls")),
]
