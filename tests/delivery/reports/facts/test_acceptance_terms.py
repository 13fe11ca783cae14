"""Payments of a certificate come to the cent of the quotation."""

from decimal import Decimal

from delivery.documents.bilingual import in_language
from delivery.planning.services import plans
from delivery.reports.facts.acceptance_terms import payments
from delivery.reports.facts.money import money
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.models import Role

MILESTONES = (("Contract signed", 30, "contract"), ("Provisional", 40, "preliminary"),
              ("Final", 30, "FA"))
QUOTED = {"totals": {"gross": "490500.98"}, "currency": "CNY", "symbol": "¥"}


def paid(engagement, kind: str, quoted: dict, language: str = "en") -> list[list[str]]:
    source = Source(Document(engagement=engagement, kind=kind))
    source.__dict__["quoted"] = quoted
    return [row[:3] for row in in_language(payments(source), language)["rows"]]


def test_the_last_payment_takes_the_remainder_as_in_the_quotation(planned, people):
    plans.set_milestones(actor=people[Role.MANAGER], plan=planned.plan, rows=[
        {"name": name, "name_en": name, "percent": Decimal(percent), "trigger": trigger}
        for name, percent, trigger in MILESTONES])
    assert paid(planned, "PA", QUOTED) == [["Provisional", "40 %", "CNY 196,200.39"]]
    assert paid(planned, "FA", QUOTED) == [["Final", "30 %", "CNY 147,150.30"]]
    assert paid(planned, "FA", QUOTED, "zh-hans") == [["Final", "30 %", "¥147,150.30"]]
    assert paid(planned, "FA", {}) == [["Final", "30 %", "–"]]


def test_an_amount_is_written_as_the_quotation_of_the_language_writes_it():
    assert money("CNY", "462736.77") == {"zh-hans": "¥462,736.77", "en": "CNY 462,736.77"}
    assert money("USD", Decimal(1000)) == {"zh-hans": "USD 1,000.00", "en": "USD 1,000.00"}
