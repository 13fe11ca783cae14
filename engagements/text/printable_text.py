"""Characters that no text of the portal may hold: they show nothing, and files break on them.

These are the control characters but tab and line feed, lone surrogates, the noncharacters of
Unicode, byte order marks, and the marks that turn the direction of what follows (Unicode 15.1,
23.1, 23.2, 23.7, 23.8; the marks are those of UAX 9, 2). XML 1.0 forbids the first three; with the
last a text reads otherwise than it is stored.
"""

import re
from typing import Any

from django.utils.translation import gettext as _

BREAKS = re.compile("[\r\x0b\x0c\x85\u2028\u2029]")  # Word writes a line break as U+000B
MARKS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
BEYOND = "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}"
                 for plane in range(0x10000, 0x110000, 0x10000))
UNPRINTABLE = re.compile(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f{MARKS}\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff"
    f"{BEYOND}]")


def printable(text: str) -> str:
    """The text without such characters; other line breaks are line feeds in a text of several
    lines, blanks in a name."""
    if text.isprintable() or not UNPRINTABLE.search(text):  # the former is the quicker one
        return text
    lines = text.replace("\r\n", "\n")
    return UNPRINTABLE.sub("", BREAKS.sub("\n" if "\n" in lines else " ", lines))


def unprintable_in(text: str) -> str:
    """The name of the first such character, as "U+0001"; empty where there is none.

    A carriage return is none here: browsers and Windows end lines with one.
    """
    found = UNPRINTABLE.search(text.replace("\r", ""))
    return f"U+{ord(found[0]):04X}" if found else ""


def refused_character(text: str) -> str:
    """The sentence on the first such character; empty where there is none."""
    found = unprintable_in(text)
    return found and _(
        "The text holds the character %(code)s, which is invisible. Remove it.") % {"code": found}


def printable_facts(value: Any) -> Any:
    """A copy of JSON-able facts in which every text, also of keys, is printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key) if isinstance(key, str) else key: printable_facts(entry)
                for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [printable_facts(entry) for entry in value]
    return value
