"""A certificate to practise with, made once where the firm has set none of its own."""

import contextlib
import os
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12
from cryptography.x509.oid import NameOID
from django.conf import settings

from bundle_verifier.signatures.certificates import PRACTICE

NAME = f"{PRACTICE} 演练证书 – not for contracts"
FILE = "practice.p12"
YEARS = timedelta(days=3650)


def practice_certificate() -> tuple[Path, bytes]:
    """The PKCS#12 file and the password that opens it; made on the first call, then kept.

    Both lie in VAR_DIR/signing and only their owner reads them.
    """
    folder = Path(settings.VAR_DIR) / "signing"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    password = _read_or_create(folder / "practice-password", secrets.token_urlsafe(32).encode)
    _read_or_create(folder / FILE, lambda: make_pkcs12(password))
    return folder / FILE, password


def _read_or_create(path: Path, make) -> bytes:
    """Content of the file, created atomically on first use; all callers get the same."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
        draft.touch(mode=0o600)
        draft.write_bytes(make())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_bytes()


def make_pkcs12(password: bytes, *, now: datetime | None = None, name: str = NAME,
                key_bits: int = 3072) -> bytes:
    """An RSA key with a self-signed certificate for signing documents, encrypted."""
    now = now or datetime.now(UTC)
    key = rsa.generate_private_key(public_exponent=65537, key_size=key_bits)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name),
                         x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Delivery Desk")])
    usage = x509.KeyUsage(
        digital_signature=True, content_commitment=True, key_encipherment=False,
        data_encipherment=False, key_agreement=False, key_cert_sign=False, crl_sign=False,
        encipher_only=False, decipher_only=False)
    certificate = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject)
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1)).not_valid_after(now + YEARS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
                       critical=False)
        .sign(key, hashes.SHA256()))
    return pkcs12.serialize_key_and_certificates(
        name.encode(), key, certificate, None, BestAvailableEncryption(password))
