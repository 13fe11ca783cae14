"""OpenSSH user certificates, as `ssh-keygen -s` writes them beside a key (PROTOCOL.certkeys)."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

import asyncssh
from cryptography.hazmat.primitives.serialization import (
    SSHCertificate,
    SSHCertificateType,
    load_ssh_public_identity,
)
from django.utils.translation import gettext as _

PUBLIC = re.compile(r"\s*(?:ssh-|ecdsa-|sk-)\S+ AAAA|-+ ?BEGIN (?:SSH2 |RSA )?PUBLIC KEY")
UNKNOWN_TYPE = re.compile(r"Unknown (?:OpenSSH private key|PKCS#8|PEM key|key)")


def key_fault(text: str, error: asyncssh.KeyImportError | asyncssh.KeyEncryptionError) -> str:
    """Why asyncssh (2.24) does not take a text as a private key, as a sentence for people."""
    if PUBLIC.match(text):
        return _("This is a public key. The private one stands in the file of the same name "
                 "without .pub.")
    if text.lstrip().startswith("PuTTY-User-Key-File"):
        return _("This is a key of PuTTY: export it in PuTTYgen as an OpenSSH key.")
    if "Passphrase must be specified" in str(error):
        return _("The private key is locked with a passphrase, which is missing.")
    if str(error).startswith(("Incorrect passphrase", "Unable to decrypt")):
        return _("The passphrase does not open the private key.")
    if isinstance(error, asyncssh.KeyEncryptionError) or UNKNOWN_TYPE.match(str(error)):
        return _("The type of the private key, or how it is locked, is not supported (%(why)s): "
                 "make one with ssh-keygen -t ed25519.") % {"why": error}
    return _("This is no whole private key of OpenSSH, PEM or PKCS#8 (%(why)s).") % {"why": error}


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
