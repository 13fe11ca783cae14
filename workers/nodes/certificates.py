"""OpenSSH user certificates, as `ssh-keygen -s` writes them beside a key (PROTOCOL.certkeys)."""

from dataclasses import dataclass
from datetime import UTC, datetime

import asyncssh
from cryptography.hazmat.primitives.serialization import (
    SSHCertificate,
    SSHCertificateType,
    load_ssh_public_identity,
)
from django.utils.translation import gettext as _


@dataclass(frozen=True)
class CertificateFacts:
    """Whom a certificate names and until when; `ends_at` None: for ever."""

    key_id: str
    principals: tuple[str, ...]
    ends_at: datetime | None


def certified_key(private_key: str, passphrase: str, certificate: str):
    """What asyncssh takes as a client key: the key alone, or with its certificate.

    Raises ValueError with the reason where one cannot be read or they do not belong together.
    """
    key = asyncssh.import_private_key(private_key, passphrase or None)
    if not certificate:
        return key
    facts_of(certificate)
    found = asyncssh.import_certificate(certificate)
    if found.key.public_data != key.public_data:
        raise ValueError(_("The certificate was made for another key."))
    return key, found


def facts_of(certificate: str) -> CertificateFacts:
    """Raises ValueError for what is no user certificate."""
    try:
        found = load_ssh_public_identity(certificate.strip().encode())
    except Exception as error:  # the library lets several kinds out, as unsupported algorithms
        raise ValueError(str(error) or type(error).__name__) from error
    if not isinstance(found, SSHCertificate) or found.type is not SSHCertificateType.USER:
        raise ValueError(_("This is not a user certificate."))
    end = found.valid_before
    return CertificateFacts(
        found.key_id.decode(errors="replace"),
        tuple(name.decode(errors="replace") for name in found.valid_principals),
        None if end > 32503680000 else datetime.fromtimestamp(end, UTC))  # the year 3000
