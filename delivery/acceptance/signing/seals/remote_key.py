"""The firm's key at a signature provider (a CA, a qualified trust service): the CSC API, version 1,
of the Cloud Signature Consortium, by pyHanko.

Only hashes leave; the key and its use are the provider's. DESK_SIGNING_KEY names the credential:
`csc:https://sign.example?credential=ID`, DESK_SIGNING_KEY_PASSWORD is the access token, or token
and PIN of the credential with a space between them. Asked are `credentials/info` for the
certificates, `credentials/authorize` for each signature, `signatures/signHash`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import aiohttp
from django.utils.translation import gettext as _
from pyhanko.sign.general import SigningError
from pyhanko.sign.signers import Signer
from pyhanko.sign.signers.csc_signer import (
    CSCAuthorizationInfo,
    CSCAuthorizationManager,
    CSCCredentialInfo,
    CSCServiceSessionInfo,
    CSCSigner,
    fetch_certs_in_csc_credential,
)

from bundle_verifier.signatures.event_loop import call_outside_event_loop
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError

SECONDS = 30
Answer = TypeVar("Answer")


class PinAuthorization(CSCAuthorizationManager):
    """Asks the provider for leave for each signature, bound to its hash, with the PIN if any."""

    def __init__(self, http: aiohttp.ClientSession, service: CSCServiceSessionInfo,
                 credential: CSCCredentialInfo, pin: str) -> None:
        super().__init__(service, credential)
        self.http, self.pin = http, pin

    async def authorize_signature(self, hash_b64s: list[str]) -> CSCAuthorizationInfo:
        """The leave to sign these hashes."""
        body = self.format_csc_auth_request(pin=self.pin or None, hash_b64s=hash_b64s)
        async with self.http.post(
                self.csc_session_info.endpoint_url("credentials/authorize"), json=body,
                headers=self.auth_headers, raise_for_status=True) as answer:
            return self.parse_csc_auth_response(await answer.json())


class RemoteSigner(Signer):
    """Signs at the provider, each signature in a session of its own."""

    def __init__(self, service: CSCServiceSessionInfo, credential: CSCCredentialInfo, pin: str
                 ) -> None:
        super().__init__(signing_cert=credential.signing_cert)
        self.service, self.credential, self.pin = service, credential, pin
        self.cert_registry.register_multiple([credential.signing_cert, *credential.chain])

    async def async_sign_raw(self, data: bytes, digest_algorithm: str, dry_run: bool = False
                             ) -> bytes:
        """The signature of `data`; pyHanko asks with `dry_run` for one of the same length."""
        if dry_run:
            return bytes(512)

        async def signed(http: aiohttp.ClientSession) -> bytes:
            inner = CSCSigner(http, PinAuthorization(http, self.service, self.credential, self.pin),
                              sign_timeout=SECONDS)
            return await inner.async_sign_raw(data, digest_algorithm)

        return await _asked(self.service, signed)


def load_remote_signer(address: str, secret: str) -> RemoteSigner:
    """The signer of a credential, with the certificates that the provider names.

    Args:
        address: of the provider, with `?credential=`.
        secret: the access token, or token and PIN.

    Raises SealUnavailableError if a part that is needed is missing or the provider does not answer.
    """
    parts = urlsplit(address)
    credential = dict(parse_qsl(parts.query)).get("credential", "")
    token, _space, pin = secret.partition(" ")
    if (parts.scheme != "https" and parts.hostname != "127.0.0.1") or not (credential and token):
        raise SealUnavailableError(
            _("DESK_SIGNING_KEY names a signature provider: csc:https://…?credential=…, and "
              "DESK_SIGNING_KEY_PASSWORD is its access token, with a PIN after a space if one is "
              "needed."))
    base = urlunsplit(parts._replace(query="", fragment="")).rstrip("/")
    service = CSCServiceSessionInfo(base, credential, oauth_token=token)
    found = call_outside_event_loop(lambda: asyncio.run(_asked(
        service, lambda http: fetch_certs_in_csc_credential(http, service, SECONDS))))
    return RemoteSigner(service, found, pin)


async def _asked(service: CSCServiceSessionInfo,
                 ask: Callable[[aiohttp.ClientSession], Awaitable[Answer]]) -> Answer:
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS)) as http:
            return await ask(http)
    except (aiohttp.ClientError, SigningError, TimeoutError, ValueError) as error:
        raise SealUnavailableError(
            _("The signature provider %(address)s does not sign: %(problem)s; check the address, "
              "the credential, the token and the PIN.") % {
                "address": service.service_url,
                "problem": f"{error.__cause__ or error}" or type(error).__name__}) from error
