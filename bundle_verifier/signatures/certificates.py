"""What a certificate says, and reading certificates from files."""

from dataclasses import dataclass

from asn1crypto import x509

from bundle_verifier.named_files import unreadable_certificates

PRACTICE = "PRACTICE"  # begins the name in a practice certificate


@dataclass(frozen=True)
class CertificateFacts:
    """A certificate as pages and reports show it; `fingerprint` is the SHA-256 of its DER form."""

    subject: str
    issuer: str
    fingerprint: str
    valid_until: str
    is_practice: bool


def facts_of(certificate: x509.Certificate) -> CertificateFacts:
    """Subject, issuer, fingerprint and validity of a certificate, for pages and reports."""
    subject = readable(certificate.subject)
    return CertificateFacts(
        subject=subject, issuer=readable(certificate.issuer),
        fingerprint=certificate.sha256.hex(),
        valid_until=f"{certificate.not_valid_after:%Y-%m-%d}",
        is_practice=subject.startswith(PRACTICE))


def readable(name: x509.Name) -> str:
    """Common name and organisation; the whole name where it has no common name."""
    parts = [name.native.get(key) for key in ("common_name", "organization_name")]
    return " · ".join(str(part) for part in parts if part) if parts[0] else name.human_friendly


def read_certificates(files: list[str]) -> list[x509.Certificate]:
    """Certificates of PEM or DER files. Raises UnreadableFile."""
    from pyhanko.keys import load_certs_from_pemder

    try:
        return list(load_certs_from_pemder(files))
    except (OSError, ValueError) as error:
        raise unreadable_certificates(files) from error
