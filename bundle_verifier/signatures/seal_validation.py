"""Checking seals and detached signatures offline, with pyHanko's validator (pyHanko 0.38)."""

import asyncio
import io
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from asn1crypto import cms, x509
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import EmbeddedPdfSignature, validate_pdf_signature
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko.sign.validation.errors import NoDSSFoundError, SignatureValidationError
from pyhanko.sign.validation.generic_cms import (
    async_validate_detached_cms,
    extract_certificate_info,
    extract_signer_info,
)
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko.sign.validation.status import (
    SignatureCoverageLevel,
    StandardCMSSignatureStatus,
)
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.errors import ValidationError

from bundle_verifier.signatures.certificates import CertificateFacts, facts_of, readable
from bundle_verifier.signatures.detached_form import (
    normal_form,
    signer_chain,
    stamp_tokens,
)
from bundle_verifier.signatures.event_loop import call_outside_event_loop

USAGE = KeyUsageConstraints(key_usage={"digital_signature", "non_repudiation"},
                            match_all_key_usages=False)
CLOCKS = timedelta(minutes=5)  # by which the clocks of CA and authority may differ


@dataclass(frozen=True)
class SealFacts:
    """Result of checking one seal.

    `is_intact`: no byte it covers was changed and the signature belongs to the certificate.
    `is_whole`: it covers the whole file and nothing was added after it; of a detached signature,
    that it holds nothing that the check does not cover.
    `is_trusted`: the chain ends at one of the roots given; None if none was given.
    `stamped_at`: the time that an authority confirms; None without a time stamp.
    `has_revocation`: the file holds lists or answers that say what was revoked.
    `signed_at`: the time that the signer states; nobody confirms it.
    `chain`: of a detached signature, the signer's certificate and its issuers as far as known.
    """

    certificate: CertificateFacts
    is_intact: bool
    is_whole: bool
    is_trusted: bool | None
    stamped_at: datetime | None = None
    authority: str = ""
    is_stamp_good: bool = True
    has_revocation: bool = False
    signed_at: datetime | None = None
    chain: tuple[x509.Certificate, ...] = ()

    @property
    def level(self) -> str:
        """The baseline level of ETSI EN 319 142-1: B-B, B-T with stamp, B-LT with revocation."""
        if not self.stamped_at:
            return "B-B"
        return "B-LT" if self.has_revocation else "B-T"

    @property
    def is_good(self) -> bool:
        return (self.is_intact and self.is_whole and self.is_stamp_good
                and self.is_trusted is not False)


def check_seals(content: bytes, *, roots: list[x509.Certificate] | None = None
                ) -> list[SealFacts]:
    """Every signature of a PDF, checked without network; empty if it has none or is no PDF.

    Args:
        roots: certificates that the chains of seal and time stamp may end at.
    """
    try:
        reader = PdfFileReader(io.BytesIO(content))
        found, store = reader.embedded_signatures, _store(reader)
    except (PdfError, ValueError):  # damaged beyond reading: the caller misses the seal
        return []
    return [_checked(seal, roots or [], store) for seal in found]


def check_detached(content: bytes, signature: bytes, *,
                   roots: list[x509.Certificate] | None = None) -> SealFacts | None:
    """A detached signature over `content`, checked without network; None if it cannot be read.

    Args:
        roots: certificates that the chains of signature and time stamp may end at.
    """
    try:
        found = cms.ContentInfo.load(signature, strict=True)
        is_normal = normal_form(found) == signature
        certificate = facts_of(extract_certificate_info(found["content"]).signer_cert)
        chain = signer_chain(found, roots or [])
        status = _detached_status(content, found["content"], roots or [])
    except Exception:  # hostile bytes: parsers of three libraries, each with errors of its own
        return None
    return replace(_facts(certificate, status, is_whole=is_normal, has_roots=bool(roots)),
                   chain=tuple(chain))


def _detached_status(content: bytes, signed: cms.SignedData, roots: list[x509.Certificate]
                     ) -> StandardCMSSignatureStatus:
    info = extract_signer_info(signed)
    return call_outside_event_loop(lambda: asyncio.run(async_validate_detached_cms(
        content, signed, signer_validation_context=_context(info, roots, None),
        ts_validation_context=_context(info, roots, None), key_usage_settings=USAGE)))


def _store(reader: PdfFileReader) -> DocumentSecurityStore | None:
    """Certificates and revocation information that the file itself holds."""
    try:
        return DocumentSecurityStore.read_dss(reader)
    except NoDSSFoundError:
        return None


def _checked(found: EmbeddedPdfSignature, roots: list[x509.Certificate],
             store: DocumentSecurityStore | None) -> SealFacts:
    facts = facts_of(found.signer_cert)
    try:
        status = call_outside_event_loop(lambda: validate_pdf_signature(
            found, signer_validation_context=_context(found.signer_info, roots, store),
            ts_validation_context=_context(found.signer_info, roots, store),
            key_usage_settings=USAGE))
    except (SignatureValidationError, ValidationError, ValueError):
        return SealFacts(facts, is_intact=False, is_whole=False,
                         is_trusted=False if roots else None)
    is_whole = status.coverage == SignatureCoverageLevel.ENTIRE_FILE and bool(status.docmdp_ok)
    return _facts(facts, status, is_whole=is_whole, has_roots=bool(roots),
                  has_revocation=bool(store and (store.crls or store.ocsps)))


def _context(info: cms.SignerInfo, roots: list[x509.Certificate],
             store: DocumentSecurityStore | None) -> ValidationContext:
    """No network; chains are judged as of the stamped time, which outlives the certificates.

    Where the file holds revocation information, it must cover every certificate that names a
    place for it.
    """
    known = {"trust_roots": roots, "allow_fetching": False, "time_tolerance": CLOCKS,
             "moment": _stamped_time(info)}
    if store is None:
        return ValidationContext(**known)
    return store.as_validation_context({**known, "revocation_mode": "hard-fail"})


def _stamped_time(info: cms.SignerInfo) -> datetime | None:
    """The time in the stamp, whose own signature is checked separately; None without a stamp."""
    times = [token["content"]["encap_content_info"]["content"].parsed["gen_time"].native
             for token in stamp_tokens(info)]
    return times[0] if times else None


def _facts(certificate: CertificateFacts, status: StandardCMSSignatureStatus, *, is_whole: bool,
           has_roots: bool, has_revocation: bool = False) -> SealFacts:
    stamp = status.timestamp_validity
    return SealFacts(
        certificate, is_intact=status.intact and status.valid, is_whole=is_whole,
        is_trusted=status.trusted if has_roots else None,
        stamped_at=stamp.timestamp if stamp else None,
        authority=readable(stamp.signing_cert.subject) if stamp else "",
        has_revocation=has_revocation, signed_at=status.signer_reported_dt,
        is_stamp_good=stamp is None or (stamp.intact and stamp.valid
                                        and (stamp.trusted or not has_roots)))
