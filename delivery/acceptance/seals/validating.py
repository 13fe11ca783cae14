"""Checking the seals of a PDF offline, with pyHanko's validator (pyHanko 0.38)."""

import io
from dataclasses import dataclass
from datetime import datetime

from asn1crypto import cms, x509
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.general import find_cms_attribute_iter
from pyhanko.sign.validation import EmbeddedPdfSignature, validate_pdf_signature
from pyhanko.sign.validation.errors import SignatureValidationError
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko.sign.validation.status import PdfSignatureStatus, SignatureCoverageLevel
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.errors import ValidationError

from delivery.acceptance.seals.apart import apart
from delivery.acceptance.seals.certificate import CertificateFacts, facts_of, readable

USAGE = KeyUsageConstraints(key_usage={"digital_signature", "non_repudiation"},
                            match_all_key_usages=False)


@dataclass(frozen=True)
class SealFacts:
    """What a check of one seal found.

    `is_intact`: no byte it covers was changed and the signature belongs to the certificate.
    `is_whole`: it covers the whole file and nothing was added after it.
    `is_trusted`: the chain ends at one of the roots given; None if none was given.
    `stamped_at`: the time that an authority vouches for; None without a time stamp.
    """

    certificate: CertificateFacts
    is_intact: bool
    is_whole: bool
    is_trusted: bool | None
    stamped_at: datetime | None = None
    authority: str = ""
    is_stamp_good: bool = True

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
        found = PdfFileReader(io.BytesIO(content)).embedded_signatures
    except (PdfError, ValueError):  # damaged beyond reading: the caller misses the seal
        return []
    return [_checked(seal, roots or []) for seal in found]


def _checked(found: EmbeddedPdfSignature, roots: list[x509.Certificate]) -> SealFacts:
    facts = facts_of(found.signer_cert)
    try:
        status = apart(lambda: validate_pdf_signature(
            found, signer_validation_context=_context(found, roots),
            ts_validation_context=_context(None, roots), key_usage_settings=USAGE))
    except (SignatureValidationError, ValidationError, ValueError):
        return SealFacts(facts, is_intact=False, is_whole=False,
                         is_trusted=False if roots else None)
    return _facts(facts, status, has_roots=bool(roots))


def _context(found: EmbeddedPdfSignature | None, roots: list[x509.Certificate]
             ) -> ValidationContext:
    """No network; the chain is judged as of the stamped time, which outlives the certificate."""
    moment = _stamped_time(found.signer_info) if found else None
    return ValidationContext(trust_roots=roots, allow_fetching=False, moment=moment)


def _stamped_time(signer_info: cms.SignerInfo) -> datetime | None:
    """The time in the stamp, whose own signature is checked apart; None without a stamp."""
    tokens = find_cms_attribute_iter(signer_info["unsigned_attrs"], "signature_time_stamp_token")
    times = [token["content"]["encap_content_info"]["content"].parsed["gen_time"].native
             for token in tokens]
    return times[0] if times else None


def _facts(certificate: CertificateFacts, status: PdfSignatureStatus, *, has_roots: bool
           ) -> SealFacts:
    stamp = status.timestamp_validity
    is_whole = status.coverage == SignatureCoverageLevel.ENTIRE_FILE and bool(status.docmdp_ok)
    return SealFacts(
        certificate, is_intact=status.intact and status.valid, is_whole=is_whole,
        is_trusted=status.trusted if has_roots else None,
        stamped_at=stamp.timestamp if stamp else None,
        authority=readable(stamp.signing_cert.subject) if stamp else "",
        is_stamp_good=stamp is None or (stamp.intact and stamp.valid
                                        and (stamp.trusted or not has_roots)))
