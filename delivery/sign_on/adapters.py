"""What django-allauth asks this product."""

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.contrib import messages
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from delivery.sign_on.directory_people import follow_directory, role_of
from delivery.sign_on.settings import GROUPS_CLAIM
from engagements.errors import DeskError
from engagements.models import User
from workers.encrypted_field import EncryptedTextField


class AccountAdapter(DefaultAccountAdapter):
    """Nobody makes an account by themselves; wrong passwords are counted by django-axes."""

    def is_open_for_signup(self, request) -> bool:
        return False

    def pre_authenticate(self, request, **credentials) -> None:
        return

    def authentication_failed(self, request, **credentials) -> None:
        return


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Accounts follow the provider: made at the first sign-in, role by the groups at each."""

    def is_open_for_signup(self, request, sociallogin) -> bool:
        return True

    def on_authentication_error(self, request, provider, error=None, exception=None,
                                extra_context=None) -> None:
        raise ImmediateHttpResponse(_refused(request, _("The sign-in was not completed.")))

    def pre_social_login(self, request, sociallogin) -> None:
        claims, is_known = _claims(sociallogin), sociallogin.account.pk is not None
        user = sociallogin.user
        if user.pk is None:
            user.username = _username(claims, sociallogin)
            if User.objects.filter(username=user.username).exists():
                raise ImmediateHttpResponse(_refused(request, _(
                    "An account of this name exists that was not created by this sign-in method; "
                    "please ask an administrator.")))
        try:
            sociallogin.user = follow_directory(
                person=user, role=role_of(_groups(claims)), source=sociallogin.account.provider,
                full_name=claims.get("name", ""), email=claims.get("email", ""))
        except DeskError as error:
            raise ImmediateHttpResponse(_refused(request, error.message)) from error
        if not is_known:
            sociallogin.connect(request, sociallogin.user)


class SecondFactorAdapter(DefaultMFAAdapter):
    """Secrets of authenticators lie encrypted, as credentials do."""

    def encrypt(self, text: str) -> str:
        return EncryptedTextField().get_prep_value(text)

    def decrypt(self, encrypted_text: str) -> str:
        return EncryptedTextField().from_db_value(encrypted_text, None, None)


def _claims(sociallogin) -> dict:
    """Of the ID token, and over them those of the user's page; other providers give them flat."""
    data = sociallogin.account.extra_data or {}
    return {**data, **(data.get("id_token") or {}), **(data.get("userinfo") or {})}


def _groups(claims: dict) -> list[str]:
    found = claims.get(GROUPS_CLAIM) or []
    return [found] if isinstance(found, str) else list(found)


def _username(claims: dict, sociallogin) -> str:
    name = claims.get("preferred_username") or claims.get("userid") or claims.get("sub") or (
        sociallogin.account.uid)
    return str(name)[:150]


def _refused(request, sentence: str):
    messages.error(request, sentence)
    return redirect("login")
