"""Passkeys (WebAuthn) of a person, for whoever registered one: they sign a challenge."""

import struct
from typing import Any

from delivery.sign_on.settings import HAS_SECOND_FACTOR
from engagements.models import User


def has_passkey(user: User) -> bool:
    """Whether second factors are on here and the account has a passkey."""
    if not HAS_SECOND_FACTOR:
        return False
    from allauth.mfa.models import Authenticator  # its tables are there only where it is on

    return Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN).exists()


def request_of(user: User, challenge: bytes) -> dict[str, Any]:
    """What a browser asks the person's authenticators: to sign the challenge after finger, face or
    PIN. As `navigator.credentials.get` takes it, bytes in base64url."""
    _server, request, _state, _keys = _asked(user, challenge)
    return request


def proof_of(user: User, challenge: bytes, answer: Any) -> dict[str, Any]:
    """The answer with the public key (COSE, hexadecimal) under which it holds; {} for one that
    does not fit the challenge, the portal's address or the person's passkeys."""
    server, _request, state, keys = _asked(user, challenge)
    try:
        key = server.authenticate_complete(state, keys, answer)
    except (ValueError, TypeError, LookupError, AttributeError, struct.error):
        return {}
    return {"answer": answer, "public_key": key.hex()}


def _asked(user: User, challenge: bytes):
    from allauth.mfa.webauthn.internal import auth

    server, keys = auth.get_server(), auth.get_credentials(user)
    request, state = server.authenticate_begin(keys, "required", challenge=challenge)
    return server, dict(request), state, keys
