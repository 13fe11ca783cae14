"""Money: exact decimal arithmetic, one rounding level (the line), and amounts in words, in Chinese
both ways and in English."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput

CENT = Decimal("0.01")
OWN_CURRENCY = "CNY"  # what the firm counts in: its costs, and sums over several quotes


def to_cents(value: Decimal) -> Decimal:
    """Half up to two decimals (DOMAIN 9.4)."""
    return Decimal(value).quantize(CENT, rounding=ROUND_HALF_UP)


@dataclass(frozen=True)
class Money:
    """An amount in its currency, and what one unit of that is worth to the firm.

    Attributes:
        rate: yuan, the firm's own money, for one unit; None where nobody entered it.
        on: the day of the rate.
    """

    amount: Decimal
    currency: str
    rate: Decimal | None
    on: date

    @property
    def yuan(self) -> Decimal | None:
        """To the cent; None without a rate."""
        return None if self.rate is None else to_cents(self.amount * self.rate)

    @property
    def conversion(self) -> dict[str, str] | None:
        """How it became yuan: `currency`, `rate`, `on`; None where it was yuan all along, or is
        not known in yuan."""
        if self.rate is None or self.currency == OWN_CURRENCY:
            return None
        return {"currency": self.currency, "rate": f"{self.rate.normalize():f}",
                "on": f"{self.on}"}


def sum_in_yuan(amounts: Iterable[Money]) -> Decimal | None:
    """Of amounts in any currencies, each to the cent first; None where one has no rate."""
    found = [money.yuan for money in amounts]
    return None if None in found else sum(found, Decimal(0))


@dataclass(frozen=True)
class LineAmounts:
    """One line: amount without tax after discount, tax, amount with tax."""

    list_amount: Decimal
    net: Decimal
    tax: Decimal

    @property
    def gross(self) -> Decimal:
        return self.net + self.tax


@dataclass(frozen=True)
class Totals:
    """Sums of the rounded lines; the discount is the difference of both sums."""

    list_amount: Decimal
    net: Decimal
    tax: Decimal

    @property
    def discount(self) -> Decimal:
        return self.list_amount - self.net

    @property
    def gross(self) -> Decimal:
        return self.net + self.tax


def line_amounts(quantity: Decimal, months: Decimal, unit_price: Decimal, tax_rate: Decimal,
                 discount_rate: Decimal = Decimal(0), *, is_tax_included: bool = False
                 ) -> LineAmounts:
    """Amounts of a line, each rounded to the cent once; the line is the one rounding level.

    A price without tax gives net, then tax = net × rate; one with tax gives gross, then
    net = gross / (1 + rate) and the tax is the rest (DOMAIN 9.4).
    """
    full, reduced = quantity * months * unit_price, quantity * months * unit_price * (
        1 - discount_rate)
    if is_tax_included:
        return LineAmounts(without_tax(to_cents(full), tax_rate)[0],
                           *without_tax(to_cents(reduced), tax_rate))
    net = to_cents(reduced)
    return LineAmounts(to_cents(full), net, to_cents(net * tax_rate))


def totals(lines: list[LineAmounts]) -> Totals:
    """Sums of lines; never stored, always computed (R-QUO-01)."""
    return Totals(*(sum((getattr(line, name) for line in lines), Decimal(0))
                    for name in ("list_amount", "net", "tax")))


@dataclass(frozen=True)
class RateTotals:
    """Sums of the lines of one tax rate, and the tax as the sum alone would give it."""

    rate: Decimal
    net: Decimal
    tax: Decimal
    tax_on_sum: Decimal

    @property
    def rounding(self) -> Decimal:
        """What rounding on each line adds to rounding once (DOMAIN 9.4)."""
        return self.tax - self.tax_on_sum


def totals_by_rate(lines: list[tuple[Decimal, LineAmounts]]) -> list[RateTotals]:
    """Net and tax per tax rate, the highest rate first."""
    found = []
    for rate in sorted({Decimal(rate) for rate, _line in lines}, reverse=True):
        own = totals([line for r, line in lines if r == rate])
        found.append(RateTotals(rate, own.net, own.tax, to_cents(own.net * rate)))
    return found


def with_tax(price: Decimal, rate: Decimal) -> Decimal:
    """A unit price including tax, to the cent; shown only, never multiplied."""
    return to_cents(price * (1 + rate))


def without_tax(gross: Decimal, rate: Decimal) -> tuple[Decimal, Decimal]:
    """(net, tax) of an amount that includes tax: net = gross / (1 + rate), tax the rest."""
    net = to_cents(gross / (1 + rate))
    return net, gross - net


def split(total: Decimal, percentages: list[Decimal]) -> list[Decimal]:
    """Milestone amounts that sum exactly; the last one takes the remainder (R-QUO-04)."""
    if sum(percentages) != 100:
        raise InvalidInput(_("The payment milestones add up to %(sum)s %%, not to 100 %%.")
                           % {"sum": sum(percentages)})
    parts = [to_cents(total * p / 100) for p in percentages[:-1]]
    return [*parts, total - sum(parts, Decimal(0))]


DIGITS = "零壹贰叁肆伍陆柒捌玖"
UNITS = ("", "拾", "佰", "仟")
GROUPS = ("", "万", "亿")
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


def amount_in_words(amount: Decimal) -> str:
    """The amount in formal Chinese numerals after 人民币 (DOMAIN 9.3, canonical forms).

    Raises InvalidInput for negative amounts and those of 10¹² and more.
    """
    cents = int(to_cents(amount) * 100)
    if cents < 0 or cents >= 10**14:
        raise InvalidInput(_("Only amounts from 0 to below 10¹² can be written in words."))
    yuan, jiao, fen = cents // 100, cents // 10 % 10, cents % 10
    if cents == 0:
        return "零元整"
    whole = _integer_in_words(yuan) + "元" if yuan else ""
    if not jiao and not fen:
        return whole + "整"
    if not fen:
        return whole + ("零" if yuan and yuan % 10 == 0 else "") + DIGITS[jiao] + "角整"
    if not jiao:
        return whole + ("零" if yuan else "") + DIGITS[fen] + "分"
    zero = "零" if yuan and yuan % 10 == 0 else ""
    return whole + zero + DIGITS[jiao] + "角" + DIGITS[fen] + "分"


def _integer_in_words(number: int) -> str:
    groups = [number // 10000**n % 10000 for n in range(3)]
    words = ""
    for n in (2, 1, 0):
        value = groups[n]
        if not value:
            continue
        lower_was_skipped = words and (value < 1000 or not groups[n + 1])
        words += ("零" if lower_was_skipped else "") + _group_in_words(value) + GROUPS[n]
    return words


def _group_in_words(value: int) -> str:
    words, pending_zero = "", False
    for n in (3, 2, 1, 0):
        digit = value // 10**n % 10
        if digit:
            words += ("零" if pending_zero else "") + DIGITS[digit] + UNITS[n]
            pending_zero = False
        elif words:
            pending_zero = True
    return words


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
        total += scale * sum(DIGITS.index(digit) * PLACES[place] for digit, place in
                             re.findall(rf"({DIGIT})([拾佰仟]?)", group))
        text = rest
    return total


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
