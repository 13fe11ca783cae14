"""Whether a certificate was revoked, by lists and answers that lie at hand: RFC 5280, RFC 6960.

No network: who checks a bundle names the files (`--crl`, `--ocsp`), as the settings do for seals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from asn1crypto import x509 as asn1
from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509 import ocsp
from cryptography.x509.oid import ExtendedKeyUsageOID

from bundle_verifier.named_files import UnreadableFile
from bundle_verifier.translation import gettext as _

UNNEEDED, GOOD, REVOKED, UNKNOWN = "unneeded", "good", "revoked", "unknown"
PEM = b"-----BEGIN"


@dataclass(frozen=True)
class RevocationSources:
    """Lists and answers; their signatures are checked where they are used."""

    lists: tuple[x509.CertificateRevocationList, ...] = ()
    answers: tuple[ocsp.OCSPResponse, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lists or self.answers)


NO_SOURCES = RevocationSources()


@dataclass(frozen=True)
class Finding:
    """What is known of a chain: its worst state, of which certificate, from when on, by whom."""

    state: str
    subject: str = ""
    at: datetime | None = None


def load_sources(lists: list[str], answers: list[str]) -> RevocationSources:
    """Read revocation lists (PEM or DER) and OCSP answers (DER).

    Raises UnreadableFile naming the file.
    """
    return RevocationSources(tuple(_read(path, _list) for path in lists),
                             tuple(_read(path, _answer) for path in answers))


def _read(path: str, parse):
    try:
        return parse(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise UnreadableFile(
            _("%(path)s is not a readable revocation list or OCSP response.")
            % {"path": path}) from error


def _list(content: bytes) -> x509.CertificateRevocationList:
    load = x509.load_pem_x509_crl if content.startswith(PEM) else x509.load_der_x509_crl
    return load(content)


def _answer(content: bytes) -> ocsp.OCSPResponse:
    found = ocsp.load_der_ocsp_response(content)
    if found.response_status != ocsp.OCSPResponseStatus.SUCCESSFUL:
        raise ValueError("no successful answer")
    return found


def chain_finding(chain: list[asn1.Certificate], roots: list[asn1.Certificate],
                  sources: RevocationSources, moment: datetime | None) -> Finding:
    """The worst of what the sources say of each certificate of a chain but its root.

    Args:
        chain: the signer's certificate first.
        moment: when it was signed, as an authority confirms; without one any revocation counts.
    """
    pool = [x509.load_der_x509_certificate(one.dump()) for one in [*chain, *roots]]
    findings = [_finding(one, pool, sources, moment) for one in pool[:len(chain)]
                if one.issuer != one.subject]
    worst = (REVOKED, UNKNOWN, GOOD)
    return min(findings, key=lambda found: worst.index(found.state)) if findings else Finding(
        UNNEEDED)


def _finding(certificate: x509.Certificate, pool: list[x509.Certificate],
             sources: RevocationSources, moment: datetime | None) -> Finding:
    subject = certificate.subject.rfc4514_string()
    issuers = [one for one in pool if _has_issued(one, certificate)]
    replies = [*_by_lists(certificate, issuers, sources),
               *_by_answers(certificate, issuers, sources)]
    asked = moment or datetime.now(UTC)
    for revoked_at, _as_of in replies:
        if revoked_at and (moment is None or revoked_at <= moment):
            return Finding(REVOKED, subject, revoked_at)
    fresh = [as_of for _revoked, as_of in replies if as_of >= asked or moment is None]
    return Finding(GOOD, subject, max(fresh)) if fresh else Finding(UNKNOWN, subject)


def _has_issued(issuer: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _by_lists(certificate: x509.Certificate, issuers: list[x509.Certificate],
              sources: RevocationSources) -> Iterator[tuple[datetime | None, datetime]]:
    """When each good list says it was revoked (None: not), and as of when the list speaks."""
    for one in sources.lists:
        if any(one.issuer == issuer.subject and one.is_signature_valid(issuer.public_key())
               for issuer in issuers):
            row = one.get_revoked_certificate_by_serial_number(certificate.serial_number)
            yield row.revocation_date_utc if row else None, one.last_update_utc


def _by_answers(certificate: x509.Certificate, issuers: list[x509.Certificate],
                sources: RevocationSources) -> Iterator[tuple[datetime | None, datetime]]:
    """The same of OCSP answers about this certificate."""
    for answer in sources.answers:
        if answer.serial_number == certificate.serial_number and any(
                _is_answered_by(answer, issuer) for issuer in issuers):
            if answer.certificate_status == ocsp.OCSPCertStatus.UNKNOWN:
                continue
            yield answer.revocation_time_utc, answer.this_update_utc


def _is_answered_by(answer: ocsp.OCSPResponse, issuer: x509.Certificate) -> bool:
    """Signed by the issuer, or by a responder that it certified for this (RFC 6960 4.2.2.2)."""
    responders = [issuer, *(one for one in answer.certificates if _is_responder(one, issuer))]
    return any(_signed(answer, one) for one in responders)


def _is_responder(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except (x509.ExtensionNotFound, ValueError):
        return False
    return ExtendedKeyUsageOID.OCSP_SIGNING in usage and _has_issued(issuer, certificate)


def _signed(answer: ocsp.OCSPResponse, by: x509.Certificate) -> bool:
    key, digest = by.public_key(), answer.signature_hash_algorithm
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(answer.signature, answer.tbs_response_bytes, padding.PKCS1v15(), digest)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(answer.signature, answer.tbs_response_bytes, ec.ECDSA(digest))
        else:
            return False
    except InvalidSignature:
        return False
    return True
