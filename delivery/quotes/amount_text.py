"""Amounts in words the other way round, and in English."""

import re
from decimal import Decimal

from django.utils.translation import gettext as _

from delivery.quotes.money import DIGITS, to_cents
from engagements.errors import InvalidInput

PLACES = {"": 1, "拾": 10, "佰": 100, "仟": 1000}
DIGIT = f"[{DIGITS}]"
AMOUNT = re.compile(
    rf"(?:(?P<yuan>[{DIGITS}拾佰仟万亿]+)元)?零?(?:(?P<jiao>{DIGIT})角)?零?(?:(?P<fen>{DIGIT})分)?整?")
GROUP = re.compile(rf"(?:零|{DIGIT}[拾佰仟]?)*")
SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
         "eighteen", "nineteen")
TENS = ("", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"))


def figure_of_words(words: str) -> Decimal:
    """The figure of an amount in formal numerals; accepts every optional form of DOMAIN 9.3.

    Raises InvalidInput for text that follows no rule.
    """
    text = words.strip().removeprefix("人民币").strip().replace("圆", "元").replace("正", "整")
    match = AMOUNT.fullmatch(text)
    if not text or not match or not any(match.groups()):
        raise InvalidInput(_("“%(words)s” is not an amount in formal "
                             "numerals.") % {"words": words})
    yuan = _integer(match["yuan"] or "零", words)
    jiao, fen = (DIGITS.index(match[name] or "零") for name in ("jiao", "fen"))
    return Decimal(yuan * 100 + jiao * 10 + fen) / 100


def _integer(text: str, words: str) -> int:
    total = 0
    for unit, scale in (("亿", 10**8), ("万", 10**4), ("", 1)):
        group, found, rest = text.partition(unit) if unit else (text, "", "")
        if unit and not found:
            continue
        if not GROUP.fullmatch(group):
            raise InvalidInput(
                _("“%(words)s” is not an amount in formal numerals.") % {"words": words})
        total += _group(group) * scale
        text = rest
    return total


def _group(text: str) -> int:
    return sum(DIGITS.index(digit) * PLACES[place]
               for digit, place in re.findall(rf"({DIGIT})([拾佰仟]?)", text))


def amount_in_english(amount: Decimal, currency: str = "yuan") -> str:
    """For example "eighty-eight thousand three hundred forty-two yuan and 75/100"."""
    cents = int(to_cents(amount) * 100)
    return f"{_english(cents // 100)} {currency} and {cents % 100:02}/100"


def _english(number: int) -> str:
    for scale, name in SCALES:
        if number >= scale:
            rest = f" {_english(number % scale)}" if number % scale else ""
            return f"{_english(number // scale)} {name}{rest}"
    if number >= 100:
        rest = f" {_english(number % 100)}" if number % 100 else ""
        return f"{SMALL[number // 100]} hundred{rest}"
    if number >= 20:
        return TENS[number // 10] + (f"-{SMALL[number % 10]}" if number % 10 else "")
    return SMALL[number]
