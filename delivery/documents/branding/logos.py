"""Logos: read as what they are, drawn anew as a plain PNG, hostile ones refused."""

import base64
import io
import warnings

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput

MOST_BYTES = 2**20
MOST_PIXELS = 16_000_000
SIZE = (1000, 400)  # pixels of what is kept: 55 mm by 22 mm at 460 dpi
LEAST = 40
FORMATS = ("PNG", "JPEG")


def checked_logo(data: bytes) -> bytes:
    """The PNG that documents print: no transparency, no metadata, at most 1000 by 400 pixels.

    Args:
        data: a PNG, a JPEG, or an SVG of plain shapes, told by content.

    Raises InvalidInput for any other format, more than 1 MB, too many or too few pixels.
    """
    if len(data) > MOST_BYTES:
        raise InvalidInput(_("The logo is %(size).1f MB; the limit is 1 MB. Export a "
                             "smaller file.") % {
            "size": len(data) / 2**20})
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        from delivery.documents.branding.svg_logo import drawn  # its libraries are slow to import

        data = drawn(data, SIZE[0])
    return _anew(data)


def _anew(data: bytes) -> bytes:
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a picture that unfolds is a warning to Pillow
            Image.open(io.BytesIO(data), formats=FORMATS).verify()  # whole, too
            picture = Image.open(io.BytesIO(data), formats=FORMATS)
            _require_size(picture.size)
            picture = ImageOps.exif_transpose(picture).convert("RGBA")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError,
            Warning) as error:
        raise InvalidInput(_("The logo is not a readable image; use PNG, JPEG or "
                             "SVG.")) from error
    canvas = Image.new("RGBA", picture.size, "white")
    canvas.alpha_composite(picture)
    canvas = canvas.convert("RGB")
    canvas.thumbnail(SIZE)
    written = io.BytesIO()
    canvas.save(written, "PNG", optimize=True)
    return written.getvalue()


def _require_size(size: tuple[int, int]) -> None:
    width, height = size
    if width * height > MOST_PIXELS or min(size) < LEAST:
        raise InvalidInput(_("The logo has %(width)d × %(height)d pixels; each side needs "
                             "at least %(least)d, with at most %(most)d million in total.") % {
            "width": width, "height": height, "least": LEAST, "most": MOST_PIXELS // 10**6})


def as_uri(png: bytes | None) -> str:
    """The picture as a data: URI; empty for none."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}" if png else ""


def of_uri(uri: str) -> bytes:
    """The bytes of such a URI."""
    return base64.b64decode(uri.partition(",")[2])
