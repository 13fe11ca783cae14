"""Sealing a PDF with the firm's certificate: PAdES, with a time stamp where one is set up."""

import io

from django.conf import settings
from django.utils.translation import gettext as _
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.sign import PdfSignatureMetadata, signers
from pyhanko.sign.fields import MDPPerm, SigSeedSubFilter
from pyhanko.sign.general import SigningError
from pyhanko.sign.timestamps import HTTPTimeStamper, TimeStamper
from pyhanko.sign.timestamps.common_utils import TimestampRequestError

from delivery.acceptance.seals.apart import apart
from delivery.acceptance.seals.certificate import SealUnavailableError, facts_of, load_signer

FIELD = "FirmSeal"
SECONDS = 20


def seal(content: bytes, *, reason: str, is_practice: bool = False) -> bytes:
    """The PDF with an invisible certifying signature over all of it (PAdES B-B, or B-T with stamp).

    No change is allowed after it. Practice data gets the practice certificate. The time stamp
    comes from SIGNING_TIMESTAMP_URL, if set.
    Raises SealUnavailableError if key, certificate or authority do not answer.
    """
    signer = load_signer(is_practice=is_practice)
    facts = facts_of(signer.signing_cert)
    mark = "PRACTICE / 演练 – " if facts.is_practice else ""
    metadata = PdfSignatureMetadata(
        field_name=FIELD, md_algorithm="sha256", subfilter=SigSeedSubFilter.PADES,
        certify=True, docmdp_permissions=MDPPerm.NO_CHANGES, reason=mark + reason,
        name=facts.subject)
    try:
        return _signed(content, metadata, signer)
    except (TimestampRequestError, OSError) as error:
        raise SealUnavailableError(
            _("The time stamp authority does not answer; the sealed copy follows as soon as it "
              "does.")) from error
    except (PdfError, SigningError) as error:
        raise SealUnavailableError(
            _("The document cannot be sealed: %(problem)s") % {"problem": error}) from error


def _signed(content: bytes, metadata: PdfSignatureMetadata, signer: signers.SimpleSigner
            ) -> bytes:
    writer = IncrementalPdfFileWriter(io.BytesIO(content))
    maker = signers.PdfSigner(metadata, signer=signer, timestamper=time_stamper())
    return apart(lambda: maker.sign_pdf(writer)).getvalue()


def time_stamper() -> TimeStamper | None:
    """The authority of the settings (RFC 3161 over HTTP); None where there is none."""
    url = settings.SIGNING_TIMESTAMP_URL
    return HTTPTimeStamper(url, timeout=SECONDS) if url else None
