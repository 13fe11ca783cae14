"""The firm's certificate: from the settings, or a practice certificate that says what it is."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from bundle_verifier.named_files import UnreadableFile
from bundle_verifier.signatures.certificates import read_certificates
from delivery.acceptance.signing.seals import practice_certificate
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError

if TYPE_CHECKING:  # pyHanko takes half a second to import; a start does without it
    from asn1crypto.x509 import Certificate
    from pyhanko.sign import Signer, SimpleSigner

MODULE_SCHEME, PROVIDER_SCHEME = OUTSIDE = "pkcs11:", "csc:"  # no file of ours holds the key


class KeyUnopenedError(SealUnavailableError):
    """The key's file, its certificate's or the password is another."""


def is_practice_seal(*, is_practice: bool) -> bool:
    """Whether the practice certificate is used: for practice data, and where no key is set."""
    return is_practice or not settings.SIGNING_KEY


def load_signer(*, is_practice: bool = False) -> "Signer":
    """The key and certificate that documents are sealed with; practice data never gets the firm's.

    Settings: SIGNING_KEY names an encrypted PEM key beside SIGNING_CERTIFICATE, a PKCS#12 file
    (.p12, .pfx) that holds both, a key of a security module (`security_module.py`) or at a
    signature provider (`remote_key.py`); SIGNING_KEY_PASSWORD opens it.
    Raises SealUnavailableError saying what is wrong.
    """
    if is_practice_seal(is_practice=is_practice):
        return _practice_signer()
    if settings.SIGNING_KEY.startswith(MODULE_SCHEME):
        return _from_module()
    if settings.SIGNING_KEY.startswith(PROVIDER_SCHEME):
        from delivery.acceptance.signing.seals.remote_key import load_remote_signer

        return _in_force(load_remote_signer(settings.SIGNING_KEY.removeprefix(
            PROVIDER_SCHEME), settings.SIGNING_KEY_PASSWORD),
                         settings.SIGNING_KEY)
    key, password = Path(settings.SIGNING_KEY), settings.SIGNING_KEY_PASSWORD.encode()
    _require_guarded(key, password)
    if key.suffix.lower() in (".p12", ".pfx"):
        return _from_pkcs12(key, password)
    return _from_pem(key, password)


def load_own_signer(*, is_practice: bool) -> "Signer | None":
    """As `load_signer`; None for what is no practice data where the firm has set no key."""
    if is_practice_seal(is_practice=is_practice) and not is_practice:
        return None
    return load_signer(is_practice=is_practice)


def _require_guarded(key: Path, password: bytes) -> None:
    """The key's file is there and encrypted; an open key is refused."""
    try:
        text = key.read_bytes()
    except OSError as error:
        raise SealUnavailableError(
            _("The signing key %(path)s cannot be read.") % {"path": key}) from error
    if not password or b"BEGIN PRIVATE KEY" in text or (
            b"BEGIN RSA PRIVATE KEY" in text and b"ENCRYPTED" not in text):
        raise SealUnavailableError(
            _("The signing key must be encrypted, and its password set "
              "(DESK_SIGNING_KEY_PASSWORD or DESK_SIGNING_KEY_PASSWORD_FILE)."))


def _practice_signer() -> "SimpleSigner":
    path, password = practice_certificate.practice_certificate()
    try:
        return _from_pkcs12(path, password)
    except KeyUnopenedError as error:
        raise SealUnavailableError(
            _("The practice certificate %(path)s cannot be opened with the password beside it. Put "
              "both files back from the keys of the backup, or remove both: new ones are made.")
            % {"path": path}) from error


def _from_pkcs12(path: Path, password: bytes) -> "SimpleSigner":
    from pyhanko.sign import SimpleSigner

    with _opening(path):
        signer = SimpleSigner.load_pkcs12_data(path.read_bytes(), (), password)
    return _in_force(signer, str(path))


def _from_pem(path: Path, password: bytes) -> "SimpleSigner":
    from pyhanko.keys import load_cert_from_pemder, load_private_key_from_pemder
    from pyhanko.sign import SimpleSigner
    from pyhanko_certvalidator.registry import SimpleCertificateStore

    chain = trust_roots(settings.SIGNING_CHAIN)
    with _opening(path):
        signer = SimpleSigner(
            signing_key=load_private_key_from_pemder(str(path), password),
            signing_cert=load_cert_from_pemder(settings.SIGNING_CERTIFICATE),
            cert_registry=SimpleCertificateStore.from_certs(chain))
    return _in_force(signer, str(path))


def _from_module() -> "Signer":
    from delivery.acceptance.signing.seals import security_module

    key = security_module.module_key(settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD)
    own = [settings.SIGNING_CERTIFICATE] if settings.SIGNING_CERTIFICATE else []
    return _in_force(security_module.load_module_signer(
        key, trust_roots(own), trust_roots(settings.SIGNING_CHAIN)), key.name)


@contextlib.contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever pyHanko and the ciphers below it raise
        raise KeyUnopenedError(
            _("The signing key %(path)s or its certificate cannot be opened; check the files and "
              "the password.") % {"path": path}) from error


def _in_force(signer: "Signer", name: str) -> "Signer":
    """The signer, while its certificate is valid."""
    certificate = signer.signing_cert
    if not certificate.not_valid_before <= timezone.now() <= certificate.not_valid_after:
        raise SealUnavailableError(
            _("The certificate of %(path)s is valid from %(start)s to %(end)s only; set another.")
            % {"path": name, "start": f"{certificate.not_valid_before:%Y-%m-%d}",
               "end": f"{certificate.not_valid_after:%Y-%m-%d}"})
    return signer


def trust_roots(files: list[str]) -> "list[Certificate]":
    """Certificates of PEM or DER files that chains may end at.

    Raises SealUnavailableError where one is no certificate.
    """
    try:
        return read_certificates(files)
    except UnreadableFile as error:
        raise SealUnavailableError(str(error)) from error
