"""Bytes of a file as text: encodings, terminal codes, and the holes that crashes leave."""

from __future__ import annotations

import re

ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78])")
"""Colours, movements, titles and character sets of terminals."""
ANSI_BYTES = re.compile(ANSI.pattern.encode())
BLANKS = str.maketrans(dict.fromkeys("\xa0\u2007\u202f\u3000", " "))
"""Blanks that pages and word processors put in the place of plain ones."""
ZIP_MAGIC = b"PK\x03\x04"
UTF16_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
UTF8_BOM = b"\xef\xbb\xbf"
CONTROL = bytes(sorted(set(range(1, 32)) - {7, 8, 9, 10, 12, 13, 27}))
HOLES, BYTE_HOLES = re.compile("\x00+"), re.compile(rb"\x00+")
LOST = "\N{REPLACEMENT CHARACTER}"


def decode(data: bytes) -> tuple[str, bool]:
    """Text of ``data`` without terminal codes, and whether characters were lost.

    UTF-8 first, then GBK, line by line where a file mixes them; otherwise U+FFFD. It stands for a
    run of NUL too: what is before and behind it never was one word.
    """
    try:
        text, lossy = data.decode("utf-8"), False
    except UnicodeDecodeError:
        decoded = [_decode_line(line) for line in data.split(b"\n")]
        text = "\n".join(line for line, _lossy in decoded)
        lossy = any(lossy for _line, lossy in decoded)
    if "\x1b" in text:
        text = ANSI.sub("", text)
    if not text.isascii():
        text = text.translate(BLANKS)
    return (HOLES.sub(LOST, text) if "\x00" in text else text), lossy


def utf16_of(data: bytes) -> tuple[str, int] | None:
    """Encoding of UTF-16 text and where it starts, also without a byte order mark."""
    if data[:2] in UTF16_BOMS:
        return UTF16_BOMS[data[:2]], 2
    odd, even = data[1:200:2], data[:200:2]
    if len(odd) > 2 and odd.count(0) > 0.9 * len(odd) and not even.count(0):
        return "utf-16-le", 0
    return None


def decode_utf16(data: bytes) -> str:
    """Text of UTF-16 ``data``."""
    encoding, start = utf16_of(data) or ("utf-16-le", 0)
    return data[start:].decode(encoding, "replace").replace("\x00", "")


def _decode_line(line: bytes) -> tuple[str, bool]:
    for encoding in ("utf-8", "gb18030"):
        try:
            return line.decode(encoding), False
        except UnicodeDecodeError:
            continue
    return line.decode("utf-8", "replace"), True


def looks_binary(data: bytes) -> bool:
    """True for archives and event files; NUL holes that crashes leave in logs do not count."""
    if data.startswith(ZIP_MAGIC):
        return True
    if utf16_of(data):
        return False
    data = data[:65536]
    controls = len(data) - len(data.translate(None, CONTROL))
    nuls = data.count(0)
    return controls * 50 > len(data) - nuls
