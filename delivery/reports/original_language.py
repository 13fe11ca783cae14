"""Texts of a document that people wrote in the other language: marked at their place, counted.

An answer or a remark is kept as it was written; a reader is told that it is no mistake of the
translation.
"""

import re
from typing import Any

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from engagements.text.language_detection import CHINESE, other_language

FEWEST = 6  # Chinese characters; fewer are a name
LAST = re.compile(r"(.*[\u3400-\u9fff][）】”。！？；]*)(.*)", re.DOTALL)
LISTS = ("open_points", "deviations")
READ_AS_FIGURES = ("code", "number", "day")  # looks of columns that hold no sentence


def is_original(text: str) -> bool:
    """Whether it holds a sentence that is not in the active language."""
    return bool(other_language(text)) and (
        get_language() != "en" or len(CHINESE.findall(text)) >= FEWEST)


def with_originals_marked(facts: dict) -> dict:
    """The facts of one language, such texts of tables, passages and lists with the mark behind
    them; `originals_note` is the sentence for the cover, empty without such a text."""
    found: set[str] = set()
    made = {**facts, "tables": {key: _table(entry, found)
                                for key, entry in facts.get("tables", {}).items()},
            "words": {key: {**entry, "text": _marked(entry["text"], found)}
                      for key, entry in facts.get("words", {}).items()},
            **{key: _marked(facts[key], found) for key in LISTS if key in facts}}
    return {**made, "originals_note": _note(len(found))}


def _table(entry: dict, found: set[str]) -> dict:
    looks = [column["look"] for column in entry["columns"]]
    return {**entry, "rows": [
        [cell if look in READ_AS_FIGURES else _marked(cell, found)
         for cell, look in zip(row, looks, strict=True)] for row in entry["rows"]]}


def _marked(value: Any, found: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _marked(one, found) for key, one in value.items()}
    if isinstance(value, list):
        return [_marked(one, found) for one in value]
    if not isinstance(value, str) or not is_original(value):
        return value
    found.add(value)
    if get_language() == "en":
        chinese, rest = LAST.fullmatch(value).groups()
        return _("%(text)s (in Chinese)") % {"text": chinese} + rest
    return _("%(text)s (in English)") % {"text": value}


def _note(count: int) -> str:
    if not count:
        return ""
    if get_language() == "en":
        return ngettext("%(n)s text in this document is in Chinese as it was written.",
                        "%(n)s texts in this document are in Chinese as they were written.",
                        count) % {"n": count}
    return ngettext("%(n)s text in this document is in English as it was written.",
                    "%(n)s texts in this document are in English as they were written.",
                    count) % {"n": count}
