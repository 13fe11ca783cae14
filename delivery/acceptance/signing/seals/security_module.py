"""The firm's key in a hardware security module or on a token: PKCS#11 (OASIS, 2.40), by pyHanko.

The key never leaves the module. DESK_SIGNING_KEY names it by its URI (RFC 7512):
`pkcs11:token=Firm;object=seal?module-path=/usr/lib/softhsm/libsofthsm2.so`.
"""

import asyncio
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from asn1crypto import x509
from django.utils.translation import gettext as _
from pyhanko.config.pkcs11 import TokenCriteria
from pyhanko.sign.signers import Signer

from delivery.acceptance.signing.seals.unavailable import SealUnavailableError

# A process is logged in at a token or it is not, whatever the number of its sessions.
_LOGIN = threading.Lock()


@dataclass(frozen=True)
class ModuleKey:
    """A key of a module: its file, the token's label, the label or number of the key, the PIN."""

    module: str
    token: str
    label: str | None
    number: bytes | None
    pin: str

    @contextmanager
    def session(self) -> Iterator[object]:
        """A session of the logged-in user. Raises SealUnavailableError saying what is wrong."""
        try:
            from pkcs11 import PKCS11Error
            from pyhanko.sign.pkcs11 import open_pkcs11_session
        except ImportError as error:
            raise SealUnavailableError(
                _("Keys of a security module need `pip install -r requirements-pkcs11.txt`.")
            ) from error
        try:
            with _LOGIN, open_pkcs11_session(self.module, user_pin=self.pin, token_criteria=(
                    TokenCriteria(label=self.token) if self.token else None)) as opened:
                yield opened
        except (PKCS11Error, OSError, RuntimeError) as error:
            raise SealUnavailableError(
                _("The security module %(module)s does not sign with %(key)s: %(problem)s; check "
                  "the module, the token's label, the key's label and the PIN.") % {
                    "module": self.module, "key": f"{self.token} / {self.name}",
                    "problem": f"{type(error).__name__} {error}".strip()}) from error

    @property
    def name(self) -> str:
        return self.label or (self.number or b"").hex()

    @property
    def names(self) -> dict:
        """The key, in pyHanko's words."""
        return {"key_label": self.label, "key_id": self.number}


class ModuleSigner(Signer):
    """Signs in the module, each signature in a session of its own."""

    def __init__(self, key: ModuleKey, certificate: x509.Certificate,
                 chain: Iterable[x509.Certificate]) -> None:
        super().__init__(signing_cert=certificate)
        self.key = key
        self.cert_registry.register_multiple([certificate, *chain])

    async def async_sign_raw(self, data: bytes, digest_algorithm: str,
                             dry_run: bool = False) -> bytes:
        """The signature of `data`; pyHanko asks with `dry_run` for one of the same length."""
        if dry_run:
            return bytes(512)
        return await asyncio.to_thread(self._signed, data, digest_algorithm)

    def _signed(self, data: bytes, digest_algorithm: str) -> bytes:
        from pyhanko.sign.pkcs11 import PKCS11Signer

        with self.key.session() as opened:
            inner = PKCS11Signer(
                opened, signing_cert=self.signing_cert, **self.key.names,
                # not every module hashes for keys on elliptic curves
                use_raw_mechanism=self.signing_cert.public_key.algorithm == "ec")
            return asyncio.run(inner.async_sign_raw(data, digest_algorithm))


def module_key(uri: str, pin: str) -> ModuleKey:
    """The key that a URI names (RFC 7512: token, object, id; module-path).

    Raises SealUnavailableError if a part that is needed is missing.
    """
    parts = urlsplit(uri)
    named = {name: value for name, _is, value in (
        part.partition("=") for part in parts.path.split(";"))}
    module = dict(parse_qsl(parts.query)).get("module-path", "")
    number = (unquote(named["id"], encoding="latin-1").encode("latin-1") if "id" in named
              else None)
    label = unquote(named["object"]) if "object" in named else None
    if not module or not pin or not (label or number):
        raise SealUnavailableError(
            _("DESK_SIGNING_KEY names a security module: pkcs11:token=…;object=…?module-path=…, "
              "and DESK_SIGNING_KEY_PASSWORD is its PIN."))
    return ModuleKey(module, unquote(named.get("token", "")), label, number, pin)


def load_module_signer(key: ModuleKey, certificates: list[x509.Certificate],
                      chain: list[x509.Certificate]) -> ModuleSigner:
    """The signer; without a certificate in `certificates` the one beside the key is read.

    Raises SealUnavailableError if the module, the token or the certificate is not there.
    """
    return ModuleSigner(key, certificates[0] if certificates else _certificate(key), chain)


def _certificate(key: ModuleKey) -> x509.Certificate:
    with key.session() as opened:
        from pyhanko.sign.pkcs11 import PKCS11Signer

        return PKCS11Signer(opened, cert_label=key.label, cert_id=key.number,
                            **key.names).signing_cert
