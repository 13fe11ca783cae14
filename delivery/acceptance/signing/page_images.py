"""Pages of a stored PDF as pictures: phones show no PDF within a page, and a picture is what was
signed."""

import io
from threading import Lock

from django.core.cache import cache

from delivery.reports.models import DocumentFile
from engagements.errors import InvalidInput

SCALE = 1.6  # 115 dots an inch: small print is read on a phone, a page stays below 200 KB
_one_at_a_time = Lock()  # PDFium is not made for several threads


def page_count(stored: DocumentFile) -> int:
    """How many pages the file has; 0 for one that cannot be read."""
    key = f"pages:{stored.sha256}"
    found = cache.get(key)
    if found is None:
        try:
            with _one_at_a_time, _opened(stored) as document:
                found = len(document)
        except InvalidInput:
            return 0
        cache.set(key, found, timeout=None)
    return found


def page_image(stored: DocumentFile, number: int) -> bytes:
    """The page of this number, from 1 on, as PNG. Raises InvalidInput where there is none."""
    with _one_at_a_time, _opened(stored) as document:
        if not 1 <= number <= len(document):
            raise InvalidInput("no such page")
        picture, out = document[number - 1].render(scale=SCALE).to_pil(), io.BytesIO()
    picture.quantize(64).save(out, "PNG", optimize=True)
    return out.getvalue()


def _opened(stored: DocumentFile):
    import pypdfium2  # its library takes a moment to load

    try:
        with stored.file.open("rb") as file:
            return pypdfium2.PdfDocument(file.read())
    except (OSError, pypdfium2.PdfiumError) as error:
        raise InvalidInput("unreadable") from error
