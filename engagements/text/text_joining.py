"""Signs between words as the active language sets them: "a: b" is "a：b" in Chinese."""

import re
from collections.abc import Iterable

from django.utils.translation import pgettext

FULL_STOPS = re.compile(r"([。！？；：，]) ")


def colon() -> str:
    """What stands between a label and what it names."""
    return pgettext("between a label and its text", ": ")


def labelled(label, text) -> str:
    """A label and its text."""
    return f"{label}{colon()}{text}"


def bracketed(text) -> str:
    """A remark in brackets, to be put straight behind a word; nothing for an empty one."""
    return pgettext("remark behind a word", " (%(text)s)") % {"text": text} if text else ""


def listed(parts: Iterable) -> str:
    """Words one after the other."""
    return pgettext("between names", ", ").join(map(str, parts))


def in_turn(clauses: Iterable) -> str:
    """Clauses that may hold commas, one after the other."""
    return pgettext("between clauses", "; ").join(map(str, clauses))


def following(*sentences) -> str:
    """Whole sentences one behind the other; a Chinese full stop needs no blank after it."""
    text = " ".join(str(sentence) for sentence in sentences if sentence)
    return FULL_STOPS.sub(r"\1", text)
