"""The addresses that providers send people back to."""

from importlib import import_module

from delivery.sign_on.settings import OIDC_ISSUER, USED_PLATFORMS

NAMES = [*(["openid_connect"] if OIDC_ISSUER else []), *USED_PLATFORMS]

urlpatterns = [
    entry for name in NAMES
    for entry in import_module(f"allauth.socialaccount.providers.{name}.urls").urlpatterns]
