"""The facts of an agreement, one row each: where a draft takes it from, and how it reads.

A source gives the value as plain data and where it is from in both languages, or None: then the
fact is not agreed, and nobody puts a standard in its place.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext_lazy, ngettext, pgettext
from django.utils.translation import gettext as _

from assessments.models import CriteriaSet
from assessments.queries import current_criteria
from delivery.agreement.deliverables import ITEMS
from delivery.documents.bilingual import both, pair
from delivery.documents.models import CompanyProfile
from delivery.quotes.models import PriceLine, Quote
from delivery.quotes.snapshot import agreed_facts, facts_of, grade_label, quantity_label
from delivery.quotes.standard_conditions import TITLES, excluded
from engagements.models import Engagement
from engagements.stages import Stage, StageState
from engagements.text.text_joining import in_turn, labelled, listed

Text = dict[str, str]  # in both languages
Drawn = tuple[Any, Text] | None
PLATFORM = ("chip", "cards", "os", "arch", "hosting")  # keys of the survey
CHINESE = "零一二三四五六七八九十"

_sheets: list[Callable[[Engagement], Any]] = []


def register_answers(sheet_of: Callable[[Engagement], Any]) -> None:
    """Where the answers of an engagement's survey are asked for; None before it is started."""
    _sheets.append(sheet_of)


class Origin:
    """The rows that a draft is drawn from, each group read when a source first asks for it."""

    def __init__(self, engagement: Engagement, quotes: list[Quote] | None = None) -> None:
        self.engagement = engagement
        if quotes is not None:
            self.quotes = quotes

    @cached_property
    def models(self) -> list:
        """In their order, with their stages."""
        return list(self.engagement.models.current().prefetch_related("stages"))

    @cached_property
    def survey(self) -> Any:
        """The survey as it stands; None before it is started."""
        return next((sheet_of(self.engagement) for sheet_of in _sheets), None)

    @cached_property
    def criteria(self) -> CriteriaSet | None:
        return current_criteria(self.engagement)

    @cached_property
    def quotes(self) -> list[Quote]:
        """The quotes that are agreed on, else the newest that was issued."""
        return Quote.objects.agreed([self.engagement.pk]).get(self.engagement.pk, [])

    @cached_property
    def quoted(self) -> dict:
        """The frozen facts of those quotes together; empty without one."""
        return agreed_facts(self.quotes)

    @cached_property
    def kept(self) -> list:
        """The rows of the list of deliverables."""
        return list(self.engagement.deliverables.select_related("model").order_by("number"))

    def answer(self, key: str) -> Any:
        """The answer to a question on the engagement that is asked; None without one."""
        return next((cell.value for cell in self.survey.asked if cell.name == key), None) if (
            self.survey) else None

    def quoted_text(self, block: str) -> Drawn:
        """A written condition of the newest of the quotes."""
        text = facts_of(self.quotes[-1]).get("conditions", {}).get(block) if self.quotes else None
        return (pair(text["zh"], text["en"]), self.from_quote(TITLES[block])) if (
            text and text["zh"].strip()) else None

    def from_quote(self, place: Any = "") -> Text:
        """That of the quotes; an offer says that it is none that was accepted."""
        def source() -> str:
            is_accepted = self.quotes[-1].state == Quote.State.ACCEPTED
            named = (_("Quotation %(quote)s") if is_accepted else
                     _("Quotation %(quote)s, offered and not accepted")) % {
                         "quote": self.quoted["title"]}
            return labelled(named, place) if place else named

        return both(source)

    def from_survey(self, key: str) -> Text:
        question = self.survey.by_key[key]
        return both(lambda: _("Survey, “%(question)s”") % {"question": question.localized_label})


def _party(row: Any, where: Callable[[], str]) -> Drawn:
    return ({"name": pair(row.name, row.name_en), "credit_code": row.credit_code}, both(where)
            ) if row.name else None


def _column(name: str) -> Callable[[Origin], Drawn]:
    """A column of the engagement."""
    def source(origin: Origin) -> Drawn:
        value = getattr(origin.engagement, name)
        return (f"{value}", both(lambda: _("Data of the engagement"))) if value else None

    return source


def _scope(origin: Origin) -> Drawn:
    found = {model.code: [record.stage for record in sorted(
        model.stages.all(), key=lambda record: Stage.values.index(record.stage))
        if record.state != StageState.SKIPPED] for model in origin.models}
    return (found, both(lambda: _("Models and stages of the engagement"))) if found else None


def _platform(origin: Origin) -> Drawn:
    cells = [cell for cell in origin.survey.asked if cell.question.key in PLATFORM
             and cell.value is not None] if origin.survey else []
    return (both(lambda: in_turn(labelled(c.question.localized_label, c.text) for c in cells)),
            both(lambda: pgettext("a tab", "Survey"))) if cells else None


def _deliverables(origin: Origin) -> Drawn:
    """What the survey's answer names, with the weights of the models, and what the list adds."""
    named = origin.answer("deliverables")
    found = listed_deliverables(origin, (*named, "weights") if named else ())
    where = [*([origin.from_survey("deliverables")] if named else []),
             *([both(lambda: _("List of deliverables"))] if origin.kept else [])]
    return (found, {language: in_turn(text[language] for text in where)
                    for language in where[0]}) if found else None


def listed_deliverables(origin: Origin, codes: Collection[str]) -> list[dict]:
    """Items of the survey by their codes, of the models whose route makes them, and what the list
    of deliverables adds; a rule and a stage that the list holds go before."""
    entries = {}
    for item in ITEMS.values():
        owing = [model.code for model in origin.models if any(
            record.stage in item.stages for record in model.stages.all()
            if record.state != StageState.SKIPPED)]
        if item.code in codes and (owing or not item.stages):
            entries[item.code] = {"code": item.code, "title": both(item.label), "models": owing,
                                  "rule": "", "due": str(item.due)}
    for row in origin.kept:
        entry = entries.setdefault(row.code or row.title, {
            "code": row.code, "title": pair(row.title, row.title_en), "models": []})
        entry.update(rule=row.rule, due=row.due_stage)
        if row.model and row.model.code not in entry["models"]:
            entry["models"].append(row.model.code)
    return list(entries.values())


def _price(origin: Origin) -> Drawn:
    quoted = origin.quoted
    resources = sum((Decimal(line["gross"]) for line in quoted.get("lines", [])
                     if line["category"] == PriceLine.Category.RESOURCE), Decimal(0))
    return ({"currency": quoted["currency"], **quoted["totals"], "resources": f"{resources:.2f}",
             "yuan": quoted["yuan"]}, origin.from_quote()) if quoted else None


def _payments(origin: Origin) -> Drawn:
    rows = [{"name": pair(row["name"], row.get("name_en", "")), "percent": row["percent"],
             "amount": row.get("amount"), "days": row.get("days")}
            for row in origin.quoted.get("payment", [])]
    return (rows, origin.from_quote()) if rows else None


def _excluded(origin: Origin) -> Drawn:
    """The lines of the notes that say what is not included."""
    facts = facts_of(origin.quotes[-1]) if origin.quotes else {}
    texts = [excluded(facts.get(name, "")) for name in ("notes", "notes_en")]
    return (pair(*texts), origin.from_quote(gettext_lazy("Notes"))) if texts[0] else None


def _effort(origin: Origin) -> Drawn:
    """The services with their person-days, and these by grade and by stage; a service without a
    stage is priced for several at once."""
    lines = [line for line in origin.quoted.get("lines", []) if line["unit"] == "person_day"]
    grades: dict[str, Decimal] = {}
    stages: dict[str, Decimal] = {}
    for line in lines:
        for days, key in ((grades, line["grade"]), (stages, line["stage"])):
            if key:
                days[key] = days.get(key, Decimal(0)) + Decimal(line["quantity"])
    return ({"grades": _figures(grades), "stages": _figures(stages), "services": [
        {**_named(line), "grade": line["grade"], "stage": line["stage"],
         "days": line["quantity"]} for line in lines]}, origin.from_quote()) if lines else None


def _resources(origin: Origin) -> Drawn:
    lines = [{**_named(line), "quantity": line["quantity"], "months": line["months"],
              "unit": line["unit"]} for line in origin.quoted.get("lines", [])
             if line["category"] == PriceLine.Category.RESOURCE]
    return (lines, origin.from_quote()) if lines else None


def _named(line: dict) -> dict[str, Text]:
    return {"name": pair(line["name"], line["name_en"]),
            "work": pair(line["specification"], line["specification_en"])}


def _figures(days: dict[str, Decimal]) -> dict[str, str]:
    return {key: f"{days[key].normalize():f}" for key in days}


def months_in(text: str) -> int | None:
    """The one period in months or years that a Chinese sentence names; None for none or several."""
    found = {(int(figure) if figure.isdecimal() else _chinese_number(figure)) * factor
             for unit, factor in (("个月", 1), ("年", 12))
             for figure in re.findall(rf"(\d+|[一二两三四五六七八九十]+)\s*{unit}", text)}
    return found.pop() if len(found) == 1 else None


def _chinese_number(text: str) -> int:
    """Up to 99: 十二, 二十四."""
    tens, ten, ones = text.replace("两", "二").rpartition("十")
    return (CHINESE.index(tens or "一") * 10 if ten else 0) + (CHINESE.index(ones) if ones else 0)


def quoted_warranty(origin: Origin) -> Drawn:
    """The months that the quote's condition on the warranty names."""
    text = origin.quoted_text("warranty")
    months = months_in(text[0]["zh-hans"]) if text else None
    return (months, text[1]) if months else None


def _warranty(origin: Origin) -> Drawn:
    terms = getattr(origin.engagement, "acceptance_terms", None)
    if terms and terms.warranty_months:
        return terms.warranty_months, both(lambda: _("Acceptance terms of the contract"))
    return quoted_warranty(origin)


def _cooperation(origin: Origin) -> Drawn:
    duties = origin.answer("duties")
    return (pair(str(duties), ""), origin.from_survey("duties")) if duties else None


def _criteria(origin: Origin) -> Drawn:
    found = origin.criteria
    return ({"version": found.version, "hash": found.content_hash},
            both(lambda: _("Signed acceptance criteria"))) if found and found.signed_at else None


# How values read, in the active language -----------------------------------------------


def told(text: Text) -> str:
    """A text in the active language."""
    return text.get(get_language() or "", text["zh-hans"])


def money(code: str, amount: str | Decimal) -> Text:
    """An amount with its currency, as the quotation of each language writes it."""
    text = f"{Decimal(amount):,.2f}"
    return pair(f"¥{text}" if code == "CNY" else f"{code} {text}", f"{code} {text}")


def _party_lines(value: dict) -> str:
    return "\n".join(filter(None, (told(value["name"]), value["credit_code"] and labelled(
        _("Unified social credit code"), value["credit_code"]))))


def _stages(codes: list[str]) -> str:
    return listed(str(Stage(code).label) for code in codes)


def _deliverable_line(entry: dict) -> str:
    return labelled(told(entry["title"]), in_turn(filter(None, (
        listed(entry["models"]), entry["rule"] and _("accepted when %(rule)s") % {
            "rule": entry["rule"]}, _("due at the end of “%(stage)s”") % {
                "stage": Stage(entry["due"]).label}))))


def _signer_lines(rows: list[dict]) -> str:
    return "\n".join(f"{n}. {' · '.join(filter(None, (told(row['name']), row['capacity'])))}"
                     for n, row in enumerate(rows, 1))


def _payment_line(row: dict) -> str:
    return in_turn(filter(None, (f"{told(row['name'])} · {row['percent']} %", payable(row))))


def payable(row: dict) -> str:
    """When an agreed payment is due; empty where that is not agreed."""
    days = row.get("days")
    return "" if days is None else ngettext(
        "%(n)d day after the invoice", "%(n)d days after the invoice", days) % {"n": days}


def _resource_line(row: dict) -> str:
    return labelled(told(row["name"]), quantity_label(row))


def _effort_lines(value: dict) -> str:
    return "\n".join(labelled(capfirst(grade_label(grade)), days)
                     for grade, days in value["grades"].items())


def months_label(months: int) -> str:
    return ngettext("%(n)d month", "%(n)d months", months) % {"n": months}


@dataclass(frozen=True)
class Fact:
    """One fact of the agreement.

    Args:
        source: what a draft takes from the engagement's rows.
        shown: the value in words of the active language.
        entry: what a manager may put in the place of the source: text, months, deliverables, or
            signers.
    """

    name: str
    label: Promise
    source: Callable[[Origin], Drawn]
    shown: Callable[[Any], str] = told
    entry: str = ""
    is_price: bool = False  # kept from auditors


FACTS = (
    Fact("customer", gettext_lazy("Customer"), lambda o: _party(
        o.engagement.customer, lambda: _("Data of the customer")), _party_lines),
    Fact("supplier", gettext_lazy("Supplier"), lambda _o: _party(
        CompanyProfile.current(), lambda: _("Data of the company")), _party_lines),
    Fact("contract_number", gettext_lazy("Contract number"), _column("contract_number"), str),
    Fact("starts_on", gettext_lazy("Start"), _column("starts_on"), str),
    Fact("ends_on", gettext_lazy("End"), _column("ends_on"), str),
    Fact("scope", gettext_lazy("Models and stages in scope"), _scope, lambda found: "\n".join(
        labelled(code, _stages(stages)) for code, stages in found.items())),
    Fact("platform", gettext_lazy("Target platform"), _platform, entry="text"),
    Fact("deliverables", gettext_lazy("Deliverables"), _deliverables,
         lambda found: "\n".join(map(_deliverable_line, found)), entry="deliverables"),
    Fact("price", gettext_lazy("Price incl. tax"), _price,
         lambda found: told(money(found["currency"], found["gross"])), is_price=True),
    Fact("payments", gettext_lazy("Payments"), _payments,
         lambda found: "\n".join(map(_payment_line, found)), is_price=True),
    Fact("included", gettext_lazy("Included"), lambda o: o.quoted_text("scope"), entry="text"),
    Fact("excluded", gettext_lazy("Not included"), _excluded, entry="text"),
    Fact("resources", gettext_lazy("Resources"), _resources,
         lambda found: in_turn(map(_resource_line, found))),
    Fact("effort", gettext_lazy("Effort in person-days"), _effort, _effort_lines),
    Fact("warranty_months", gettext_lazy("Warranty"), _warranty, months_label, entry="months"),
    Fact("acceptance", gettext_lazy("Way of acceptance"), lambda o: o.quoted_text("acceptance"),
         entry="text"),
    Fact("signers", gettext_lazy("Who signs for the customer, in this order"), lambda _o: None,
         _signer_lines, entry="signers"),
    Fact("cooperation", gettext_lazy("Cooperation of the customer"), _cooperation, entry="text"),
    Fact("criteria", gettext_lazy("Acceptance criteria"), _criteria,
         lambda found: f"V{found['version']} · {found['hash'][:16]}"),
)
BY_NAME = {fact.name: fact for fact in FACTS}


def draw(origin: Origin, entered: dict, names: Collection[str] = BY_NAME) -> dict:
    """The values of a draft as its sources are now; a fact without one is left out.

    Args:
        entered: {name: {"value", "source"}} that a person put in the place of a source.
        names: of the facts, where not all are asked for.
    """
    values = {}
    for fact in (BY_NAME[name] for name in names):
        if given := entered.get(fact.name):
            values[fact.name] = {**given, "value": listed_deliverables(origin, given["value"])
                                 if fact.entry == "deliverables" else given["value"]}
        elif found := fact.source(origin):
            values[fact.name] = dict(zip(("value", "source"), found, strict=True))
    return values


def shown(name: str, value: Any) -> str:
    """A value in words of the active language; that it is not agreed where there is none."""
    return BY_NAME[name].shown(value) if value else _("not agreed")
