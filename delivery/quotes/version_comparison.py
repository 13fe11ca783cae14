"""What changed between two versions of a quote, readable."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from delivery.quotes import standard_conditions
from delivery.quotes.models import Quote
from delivery.quotes.snapshot import facts_of, grade_label, percent, unit_label
from engagements.models.engagement import localized

COMPARED = ("specification", "grade", "unit", "quantity", "months", "unit_price",
            "is_tax_included", "tax_rate", "remark")


@dataclass(frozen=True)
class Change:
    """One value before and after; `difference` for amounts."""

    label: str
    before: str
    after: str
    difference: Decimal | None = None


@dataclass(frozen=True)
class ChangedLine:
    """A line in both versions with what differs in it."""

    line: dict
    changes: list[Change]
    difference: Decimal | None
    before: dict


@dataclass
class Comparison:
    """Lines added, removed and changed, totals, terms; all empty where nothing differs."""

    added: list[dict] = field(default_factory=list)
    removed: list[dict] = field(default_factory=list)
    changed: list[ChangedLine] = field(default_factory=list)
    totals: list[Change] = field(default_factory=list)
    terms: list[Change] = field(default_factory=list)


def compare(older: Quote, newer: Quote) -> Comparison:
    """The way from one version to another, from their facts; costs are not among them."""
    return compare_facts(facts_of(older), facts_of(newer))


def compare_facts(a: dict, b: dict) -> Comparison:
    """The way from the facts `a` to the facts `b`.

    Lines are matched by code and name; a line that stands several times, in its order. Amounts
    in two currencies have no difference.
    """
    difference = _difference if a["currency"] == b["currency"] else _no_difference
    before, after = _by_key(a["lines"]), _by_key(b["lines"])
    found = Comparison(
        added=[_shown(*line) for key, line in after.items() if key not in before],
        removed=[_shown(*line) for key, line in before.items() if key not in after],
        totals=_totals(a["totals"], b["totals"], difference), terms=_terms(a, b))
    for key in before.keys() & after.keys():
        (_place, old), (_place, new) = before[key], after[key]
        changes = _line_changes(old, new)
        if changes:
            found.changed.append(ChangedLine(
                _shown(*after[key]), changes, difference(old["gross"], new["gross"]),
                _shown(*before[key])))
    found.changed.sort(key=lambda changed: changed.line["position"])
    return found


def _difference(before: str, after: str) -> Decimal | None:
    return Decimal(after) - Decimal(before)


def _no_difference(_before: str, _after: str) -> Decimal | None:
    return None


def _by_key(lines: list[dict]) -> dict[tuple, tuple[int, dict]]:
    """Position and line by code, name and how often the two stood before."""
    found: dict[tuple, tuple[int, dict]] = {}
    seen: dict[tuple, int] = {}
    for position, line in enumerate(lines):
        key = (line["code"], line["name"])
        seen[key] = seen.get(key, 0) + 1
        found[(*key, seen[key])] = position, line
    return found


def _shown(position: int, line: dict) -> dict:
    return {**line, "position": position, "localized_name": localized(line["name"],
                                                                      line["name_en"]),
            "unit_label": unit_label(line["unit"])}


def _line_changes(before: dict, after: dict) -> list[Change]:
    differing = [name for name in COMPARED if before[name] != after[name]]
    if not differing:
        return []
    labels = {"specification": _("specification"), "grade": _("grade"), "unit": _("unit"),
              "quantity": _("quantity"), "months": _("months"), "unit_price": _("unit price"),
              "is_tax_included": _("price includes tax"), "tax_rate": _("tax rate"),
              "remark": _("remark")}
    return [Change(labels[name], _value(name, before[name]), _value(name, after[name]))
            for name in differing]


def _value(name: str, value) -> str:
    if name == "is_tax_included":
        return _("yes") if value else _("no")
    if name == "unit_price":
        return f"{Decimal(value):,.2f}"
    shown = {"tax_rate": percent, "unit": unit_label, "grade": grade_label}.get(name, str)(value)
    return shown or "--"


def _totals(before: dict, after: dict,
            difference: Callable[[str, str], Decimal | None]) -> list[Change]:
    labels = {"list_amount": _("Subtotal before discount"), "discount": _("Discount"),
              "net": _("Total excluding tax"), "tax": _("Tax"), "gross": _("Total including tax")}
    return [Change(label, before[name], after[name], difference(before[name], after[name]))
            for name, label in labels.items()]


def _terms(a: dict, b: dict) -> list[Change]:
    pairs = [
        (pgettext("of a quote", "Subject"),
         localized(a["subject"], a["subject_en"]), localized(b["subject"], b["subject_en"])),
        (_("Valid until"), a["valid_until"], b["valid_until"]),
        (_("Currency"), a["currency"], b["currency"]),
        (_("Discount"), percent(a["discount_rate"]), percent(b["discount_rate"])),
        (_("Reason for the discount"), a["discount_reason"], b["discount_reason"]),
        (_("Invoice type"), str(Quote.Invoice(a["invoice"]).label),
         str(Quote.Invoice(b["invoice"]).label)),
        (_("Payment"), _payment(a), _payment(b)),
        (_("Assumptions and exclusions"), localized(a["notes"], a["notes_en"]),
         localized(b["notes"], b["notes_en"])),
        *((str(title), _condition(a, code), _condition(b, code))
          for code, title in standard_conditions.TITLES.items())]
    return [Change(label, before or "--", after or "--")
            for label, before, after in pairs if before != after]


def _payment(facts: dict) -> str:
    return " / ".join(f"{localized(t['name'], t.get('name_en', ''))} {t['percent']} %"
                      for t in facts["payment"])


def _condition(facts: dict, code: str) -> str:
    entry = facts["conditions"].get(code, {})
    return localized(entry.get("zh", ""), entry.get("en", ""))
