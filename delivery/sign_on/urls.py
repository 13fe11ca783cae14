"""Those of django-allauth that are used: its accounts, passwords and e-mails are not."""

from allauth.account import views as account
from django.urls import include, path
from django.views.generic import RedirectView

LOGIN = RedirectView.as_view(pattern_name="login")

urlpatterns = [
    path("login/", account.login, name="login"),
    path("account/login/", account.login, name="account_login"),
    path("account/logout/", account.logout, name="account_logout"),
    path("account/inactive/", account.account_inactive, name="account_inactive"),
    path("account/confirm/", account.reauthenticate, name="account_reauthenticate"),
    path("account/signup/", LOGIN, name="account_signup"),
    path("account/email/", LOGIN, name="account_email"),
    path("account/second-factor/", include("allauth.mfa.urls")),
    path("account/provider/", include("allauth.socialaccount.urls")),
]
