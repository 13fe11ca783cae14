"""Detached CMS signature of a file: CAdES B-B or B-T (ETSI EN 319 122-1), in one encoding."""

import asyncio
import hashlib
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from bundle_verifier.signatures.detached_form import normal_form
from bundle_verifier.signatures.event_loop import call_outside_event_loop
from delivery.acceptance.signing.seals.certificate import trust_roots
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError

if TYPE_CHECKING:  # pyHanko takes half a second to import
    from pyhanko.sign import SimpleSigner

DIGEST = "sha256"


def sign_detached(content: bytes, signer: "SimpleSigner") -> bytes:
    """DER of the signature: with signing time, the chain, and a time stamp if an authority is set.

    Raises SealUnavailableError if the key or the time stamp authority does not answer.
    """
    from pyhanko.sign.general import SigningError
    from pyhanko.sign.signers.pdf_cms import PdfCMSSignedAttributes
    from pyhanko.sign.timestamps.common_utils import TimestampRequestError

    from delivery.acceptance.signing.seals.pdf_seal import time_stamper

    attributes = PdfCMSSignedAttributes(signing_time=timezone.now().replace(microsecond=0))
    try:
        made = call_outside_event_loop(lambda: asyncio.run(signer.async_sign_general_data(
            content, DIGEST, use_cades=True, timestamper=time_stamper(),
            signed_attr_settings=attributes)))
    except (TimestampRequestError, OSError) as error:
        raise SealUnavailableError(
            _("The time stamp authority does not answer; try again later.")) from error
    except SigningError as error:
        raise SealUnavailableError(
            _("The list of checksums cannot be signed: %(problem)s") % {"problem": error}
        ) from error
    return normal_form(made, trust_roots(settings.SIGNING_ROOTS))


def time_stamp(content: bytes) -> bytes:
    """DER of an RFC 3161 token of the authority in the settings, over the content's SHA-256.

    Raises SealUnavailableError if the authority does not answer.
    """
    from pyhanko.sign.timestamps.common_utils import TimestampRequestError

    from delivery.acceptance.signing.seals.pdf_seal import time_stamper

    digest = hashlib.new(DIGEST, content).digest()
    try:
        return call_outside_event_loop(lambda: asyncio.run(
            time_stamper().async_timestamp(digest, DIGEST))).dump()
    except (TimestampRequestError, OSError) as error:
        raise SealUnavailableError(
            _("The time stamp authority does not answer; try again later.")) from error
