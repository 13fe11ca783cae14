"""Values of answers: from a form or a sheet to the stored form, and back to text."""

import math
import re
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from delivery.surveys.models import Question
from engagements.errors import InvalidInput
from engagements.models.engagement import localized
from engagements.text.printable_text import unprintable_in
from engagements.text.text_joining import in_turn

MAX_TEXT = 4000
SEPARATORS = str.maketrans({"；": ";", "，": ";", ",": ";", "、": ";", "\n": ";"})


def parse_value(question: Question, raw: Any) -> Any:
    """The stored form of `raw`: str, list of codes, or None for empty.

    Numbers become decimal strings, dates ISO strings, yes/no the codes "yes" and "no".
    Raises InvalidInput with the reason.
    """
    if raw is None or raw in ("", [], [""]) or (isinstance(raw, str) and not raw.strip()):
        return None
    return PARSERS[question.type](question, raw)


def _text(_question: Question, raw: Any) -> str:
    text = _date(_question, raw) if isinstance(raw, date) else str(raw).strip()
    if len(text) > MAX_TEXT:
        raise InvalidInput(_("The text has %(n)d characters; the limit is %(limit)d.")
                           % {"n": len(text), "limit": MAX_TEXT})
    if unprintable_in(text):
        raise InvalidInput(_("The text contains control characters. Enter it again."))
    return text.replace("\r\n", "\n")


def _number(_question: Question, raw: Any) -> str:
    try:
        number = Decimal(str(raw).strip().replace(",", ""))
    except InvalidOperation:
        number = Decimal("NaN")
    if isinstance(raw, bool) or not number.is_finite() or math.fabs(number) >= 1e15:
        raise InvalidInput(_("“%(value)s” is not a number.") % {"value": str(raw)[:40]})
    if number < 0:
        raise InvalidInput(_("The number may not be negative."))
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _date(_question: Question, raw: Any) -> str:
    if isinstance(raw, datetime | date):
        return raw.strftime("%Y-%m-%d")
    try:
        return date.fromisoformat(str(raw).strip().replace("/", "-")).isoformat()
    except ValueError:
        raise InvalidInput(_("“%(value)s” is not a date. Write it like 2026-03-31.")
                           % {"value": str(raw)[:40]}) from None


def _choice(question: Question, raw: Any) -> str:
    """An option by its code or label, or by what stands before the brackets of one label only."""
    wanted = str(raw).strip().casefold()
    for names in (_names, _short_names):
        found = [option["code"] for option in options_of(question) if wanted in names(option)]
        if len(found) == 1:
            return found[0]
    labels = " / ".join(label for _code, label in choices_of(question))
    raise InvalidInput(_("“%(value)s” is not in the list. Choose one of: %(options)s.")
                       % {"value": str(raw)[:40], "options": labels})


def _names(option: dict) -> set[str]:
    return {str(option[name]).casefold() for name in ("code", "label", "label_en")}


def _short_names(option: dict) -> set[str]:
    return {re.split("[（(]", name)[0].strip() for name in _names(option)}


def _multi(question: Question, raw: Any) -> list[str] | None:
    parts = raw if isinstance(raw, list | tuple) else str(raw).translate(SEPARATORS).split(";")
    codes = {_choice(question, part) for part in parts if str(part).strip()}
    if "none" in codes and len(codes) > 1:
        raise InvalidInput(_("“None” cannot be combined with other entries."))
    return [option["code"] for option in options_of(question) if option["code"] in codes] or None


PARSERS = {"text": _text, "file": _text, "number": _number, "date": _date, "choice": _choice,
           "bool": _choice, "multi": _multi}
YES_NO = [{"code": "yes", "label": "是", "label_en": "Yes"},
          {"code": "no", "label": "否", "label_en": "No"}]


def options_of(question: Question) -> list[dict]:
    """The options of the question; yes and no for that type."""
    return YES_NO if question.type == Question.Type.BOOL else question.options


def choices_of(question: Question) -> list[tuple[str, str]]:
    """(code, label in the active language) of each option."""
    return [(o["code"], localized(o["label"], o["label_en"])) for o in options_of(question)]


def show_value(question: Question, value: Any) -> str:
    """The stored value as text in the active language; "" for empty."""
    if value is None:
        return ""
    labels = dict(choices_of(question))
    if isinstance(value, list):
        return in_turn(labels.get(code, code) for code in value)
    return labels.get(value, str(value))
