"""Signing in without a password of the desk's own."""

from allauth.account.auth_backends import AuthenticationBackend


class ProviderBackend(AuthenticationBackend):
    """Finds people whom a provider named; passwords are a matter of the other backends."""

    def authenticate(self, request, **credentials):
        return None
