"""Codes of a person's authenticator app (TOTP, RFC 6238), for whoever set one up."""

from delivery.sign_on.settings import HAS_SECOND_FACTOR
from engagements.models import User


def has_authenticator_app(user: User) -> bool:
    """Whether second factors are on here and the account has an authenticator app."""
    return _app_of(user) is not None


def is_code_of_app(user: User, code: str) -> bool:
    """Whether the app shows this code now; each code counts once."""
    found = _app_of(user)
    return found is not None and found.wrap().validate_code(code)


def _app_of(user: User):
    if not HAS_SECOND_FACTOR:
        return None
    from allauth.mfa.models import Authenticator  # its tables are there only where it is on

    return Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).first()
