"""Which language a typed text is in."""

import re

from django.utils.translation import get_language

CHINESE = re.compile(r"[\u3400-\u9fff]")
ENGLISH = re.compile(r"[a-z]{2,}\s+[a-z]{2,}\s+[a-z]{2,}")  # a name or a code is none


def other_language(text: str) -> str:
    """The `lang` of a text that is not in the active language; empty where it is, or is neither."""
    is_english = get_language() == "en"
    if CHINESE.search(text):
        return "zh-Hans" if is_english else ""
    return "en" if ENGLISH.search(text) and not is_english else ""
