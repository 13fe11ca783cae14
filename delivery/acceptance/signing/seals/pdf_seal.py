"""Sealing a PDF with the firm's certificate: PAdES B-B, B-T or B-LT (ETSI EN 319 142-1)."""

import asyncio
import io
from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.sign import PdfSignatureMetadata, signers
from pyhanko.sign.fields import MDPPerm, SigSeedSubFilter
from pyhanko.sign.general import SigningError
from pyhanko.sign.signers.pdf_signer import DSSContentSettings, SigDSSPlacementPreference
from pyhanko.sign.timestamps import HTTPTimeStamper, TimeStamper
from pyhanko.sign.timestamps.common_utils import TimestampRequestError
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.errors import ValidationError
from pyhanko_certvalidator.fetchers import Fetchers
from pyhanko_certvalidator.fetchers.aiohttp_fetchers import AIOHttpFetcherBackend

from bundle_verifier.signatures.certificates import facts_of
from bundle_verifier.signatures.event_loop import call_outside_event_loop
from delivery.acceptance.signing.seals.certificate import (
    is_practice_seal,
    load_signer,
    trust_roots,
)
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError

FIELD = "FirmSeal"
SECONDS = 20
# In the revision of the signature: nothing is added after it, so it covers the whole file.
DSS_IN_SIGNED_REVISION = DSSContentSettings(include_vri=False,
                              placement=SigDSSPlacementPreference.TOGETHER_WITH_SIGNATURE)


def seal(content: bytes, *, reason: str, is_practice: bool = False) -> bytes:
    """The PDF with an invisible certifying signature over all of it.

    PAdES B-B; B-T with a time stamp of SIGNING_TIMESTAMP_URL; B-LT if SIGNING_ROOTS names where
    the chains of key and stamp end: then their revocation information is embedded, from
    SIGNING_CRLS and from the addresses in the certificates. No change is allowed after it.
    Practice data gets the practice certificate, which nobody could revoke: B-T at most.
    Raises SealUnavailableError if key, certificate, chain or authority do not answer.
    """
    signer = load_signer(is_practice=is_practice)
    facts = facts_of(signer.signing_cert)
    mark = "PRACTICE / 演练 – " if facts.is_practice else ""
    metadata = PdfSignatureMetadata(
        field_name=FIELD, md_algorithm="sha256", subfilter=SigSeedSubFilter.PADES,
        certify=True, docmdp_permissions=MDPPerm.NO_CHANGES, reason=mark + reason,
        name=facts.subject)
    roots = [] if is_practice_seal(is_practice=is_practice) else settings.SIGNING_ROOTS
    try:
        return call_outside_event_loop(lambda: asyncio.run(_signed(content, metadata, signer,
                                                                   roots)))
    except (TimestampRequestError, OSError) as error:
        raise SealUnavailableError(
            _("The time stamp authority does not answer; the sealed copy follows as soon as it "
              "does.")) from error
    except (PdfError, SigningError, ValidationError) as error:
        raise SealUnavailableError(
            _("The document cannot be sealed: %(problem)s") % {"problem": _causes(error)}
        ) from error


def _causes(error: BaseException | None) -> str:
    """The sentence of an error and of those behind it: pyHanko says “revoked” only there."""
    found = []
    while error and str(error) not in found:
        found.append(str(error))
        error = error.__cause__ or error.__context__
    return " – ".join(found)


async def _signed(content: bytes, metadata: PdfSignatureMetadata, signer: signers.Signer,
                  roots: list[str]) -> bytes:
    writer = IncrementalPdfFileWriter(io.BytesIO(content))
    async with AIOHttpFetcherBackend(per_request_timeout=SECONDS) as fetchers:
        if roots:
            metadata = replace(metadata, embed_validation_info=True,
                               dss_settings=DSS_IN_SIGNED_REVISION,
                               validation_context=_context(roots, fetchers))
        maker = signers.PdfSigner(metadata, signer=signer, timestamper=time_stamper())
        return (await maker.async_sign_pdf(writer)).getvalue()


def _context(roots: list[str], fetchers: Fetchers) -> ValidationContext:
    """Where chains end, and where to ask whether a certificate was revoked; no answer is fatal."""
    try:
        crls = [Path(path).read_bytes() for path in settings.SIGNING_CRLS]
    except OSError as error:
        raise SealUnavailableError(_("The revocation list %(path)s cannot be read.")
                                   % {"path": error.filename}) from error
    return ValidationContext(
        trust_roots=trust_roots(roots), other_certs=trust_roots(settings.SIGNING_CHAIN),
        allow_fetching=True, fetchers=fetchers, crls=crls, revocation_mode="hard-fail")


def time_stamper() -> TimeStamper | None:
    """The authority of the settings (RFC 3161 over HTTP); None where there is none."""
    url = settings.SIGNING_TIMESTAMP_URL
    return HTTPTimeStamper(url, timeout=SECONDS) if url else None
