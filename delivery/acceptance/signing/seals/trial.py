"""Sealing an empty page as a document would be, to see whether documents can be sealed."""

import io

from django.utils.translation import gettext as _
from pyhanko.pdf_utils.generic import StreamObject
from pyhanko.pdf_utils.writer import PageObject, PdfFileWriter

from bundle_verifier.signatures.seal_validation import SealFacts, check_seals
from delivery.acceptance.signing.seals.pdf_seal import seal


def seal_empty_page() -> SealFacts:
    """The seal it got: with key, time stamp and revocation information, as for a document.

    Raises SealUnavailableError saying what is missing.
    """
    [found] = check_seals(seal(_empty_page(), reason="trial"))
    return found


def reached(found: SealFacts) -> str:
    """The level of a seal and its time stamp, in the reader's language."""
    stamp = f"{found.stamped_at:%Y-%m-%dT%H:%M:%SZ} {found.authority}" if (
        found.stamped_at) else _("no time stamp")
    return f"PAdES {found.level} · {stamp}"


def _empty_page() -> bytes:
    writer, out = PdfFileWriter(), io.BytesIO()
    contents = writer.add_object(StreamObject(stream_data=b""))
    writer.insert_page(PageObject(contents, media_box=(0, 0, 595, 842)))
    writer.write(out)
    return out.getvalue()
