"""Validation of uploaded scans: only plain PDF, PNG or JPEG without active content."""

import hashlib
import io
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from django.core.files.base import ContentFile
from django.utils.translation import gettext as _
from PIL import Image, UnidentifiedImageError

from engagements.errors import InvalidInput

if TYPE_CHECKING:  # pyHanko takes half a second to import; a start does without it
    from pyhanko.pdf_utils.reader import PdfFileReader

MAX_BYTES = 10 * 2**20
MAX_PIXELS = 50_000_000  # A4 at 600 dpi has 35 million
MIN_SIDE = 300
MAX_PAGES = 200
MAX_OBJECTS = 20_000
ACTIVE = {"/JavaScript", "/JS", "/Launch", "/EmbeddedFiles", "/EmbeddedFile", "/RichMedia",
          "/XFA", "/OpenAction", "/AA", "/SubmitForm", "/ImportData", "/GoToR", "/GoToE"}
ENDS = {"PNG": b"IEND\xaeB`\x82", "JPEG": b"\xff\xd9"}
STARTS = {b"%PDF-": (".pdf", "PDF"), b"\x89PNG\r\n\x1a\n": (".png", "PNG"),
          b"\xff\xd8\xff": (".jpg", "JPEG")}


@dataclass(frozen=True)
class Scan:
    """A scan as it will be stored; its bytes are those that were sent."""

    name: str
    ending: str
    content: bytes
    sha256: str

    @property
    def file(self) -> ContentFile:
        """To be stored under the name of its checksum."""
        return ContentFile(self.content, name=f"{self.sha256}{self.ending}")

    @property
    def columns(self) -> dict[str, ContentFile | str]:
        """Of a row that holds the scan: `file`, `file_name`, `sha256`."""
        return {"file": self.file, "file_name": self.name, "sha256": self.sha256}


def checked_scan(upload) -> Scan:
    """The upload, if its content is what a scanner makes.

    Raises InvalidInput saying what is wrong: nothing sent, too large, another kind, damaged,
    too small or too large a picture, protected, or a PDF with active content.
    """
    if not upload:
        raise InvalidInput(_("Choose the scan of the signed paper."))
    if upload.size > MAX_BYTES:
        raise InvalidInput(_("The scan is larger than %(n)d MB; scan it at a lower resolution.")
                           % {"n": MAX_BYTES // 2**20})
    content = upload.read()
    ending, kind = next((known for start, known in STARTS.items() if content.startswith(start)),
                        ("", ""))
    if not kind:
        raise InvalidInput(_("The scan is neither PDF nor PNG nor JPEG."))
    _check_pdf(content) if kind == "PDF" else _check_image(content, kind)
    return Scan(_plain(upload.name, ending), ending, content,
                hashlib.sha256(content).hexdigest())


def _plain(name: str, ending: str) -> str:
    """The file's name without paths and controls, with the ending of its content."""
    stem = PurePosixPath(str(name).replace("\\", "/")).stem
    return (re.sub(r"[^\w.-]+", "_", stem).strip("._-")[:100] or "scan") + ending


def _check_image(content: bytes, kind: str) -> None:
    """WeasyPrint lets Pillow load pictures that are cut short, so their end is looked at here."""
    try:
        if not content.rstrip(b"\0").endswith(ENDS[kind]):
            raise OSError("cut short")
        with Image.open(io.BytesIO(content), formats=[kind]) as image:
            width, height = image.size
            _require_sizes(width, height)
            image.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError,
            Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InvalidInput(_("The picture is damaged; scan the paper again.")) from error


def _require_sizes(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise InvalidInput(_("The picture has more than %(n)d million pixels; scan it at a lower "
                             "resolution.") % {"n": MAX_PIXELS // 1_000_000})
    if min(width, height) < MIN_SIDE:
        raise InvalidInput(_("The picture is too small to be read; scan it at a higher "
                             "resolution."))


def _check_pdf(content: bytes) -> None:
    from pyhanko.pdf_utils.misc import PdfError
    from pyhanko.pdf_utils.reader import PdfFileReader

    try:
        reader = PdfFileReader(io.BytesIO(content), strict=False)
        if reader.encrypted:
            raise InvalidInput(_("The PDF is protected by a password; send it without."))
        pages = int(reader.root["/Pages"]["/Count"])
        found = _active_names(reader)
    except (PdfError, ValueError, KeyError, TypeError, AttributeError, IndexError,
            RecursionError, NotImplementedError) as error:
        raise InvalidInput(_("The PDF is damaged; scan the paper again.")) from error
    if not 1 <= pages <= MAX_PAGES:
        raise InvalidInput(_("The PDF has no page or more than %(n)d.") % {"n": MAX_PAGES})
    if found:
        raise InvalidInput(_("The PDF holds active content (%(names)s); send a plain scan.")
                           % {"names": ", ".join(sorted(found))})


def _active_names(reader: "PdfFileReader") -> set[str]:
    """Names of active content anywhere in the objects that the trailer leads to."""
    from pyhanko.pdf_utils import generic

    found, seen, waiting = set(), set(), [reader.root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, generic.IndirectObject):
            key = (value.idnum, value.generation)
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > MAX_OBJECTS:
                raise ValueError("too many objects")
            value = value.get_object()
        if isinstance(value, generic.DictionaryObject):
            found |= ACTIVE & {str(name) for name in value}
            found |= ACTIVE & {str(raw) for raw in value.values()
                               if isinstance(raw, generic.NameObject)}
            waiting.extend(value.raw_get(name) for name in value)
        elif isinstance(value, generic.ArrayObject):
            waiting.extend(value.raw_get(n) for n in range(len(value)))
    return found
