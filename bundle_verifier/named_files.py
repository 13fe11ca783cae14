"""Files that whoever checks a bundle names, and the packages that read them."""

import base64
import binascii
import re
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from bundle_verifier.translation import gettext as _

SIGNATURE_PACKAGES = ("cryptography", "pyhanko")
PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", re.DOTALL)
DER_SEQUENCE = b"\x30"


class UnreadableFile(ValueError):
    """A file is not what it was named for; the text says so in the active language."""


def missing_packages() -> str:
    """Names of the packages that signatures need and that are not installed; empty if none is."""
    return ", ".join(name for name in SIGNATURE_PACKAGES if find_spec(name) is None)


def fingerprints(files: list[str]) -> frozenset[str]:
    """SHA-256 of the certificates in PEM or DER files. Raises UnreadableFile."""
    try:
        return frozenset(sha256(found).hexdigest() for name in files
                         for found in _certificates(Path(name).read_bytes()))
    except (OSError, binascii.Error, ValueError) as error:
        raise unreadable_certificates(files) from error


def unreadable_certificates(files: list[str]) -> UnreadableFile:
    return UnreadableFile(_("The certificates %(files)s cannot be read.") % {
        "files": ", ".join(files)})


def _certificates(content: bytes) -> list[bytes]:
    found = [base64.b64decode(text) for text in PEM.findall(content)] or [content]
    if not all(one.startswith(DER_SEQUENCE) for one in found):
        raise ValueError("no certificate")
    return found
