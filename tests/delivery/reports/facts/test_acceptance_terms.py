"""Payments of a certificate come to the cent of the quotation."""

from decimal import Decimal

from delivery.documents.bilingual import in_language
from delivery.planning.services import plans
from delivery.quotes.models import Quote
from delivery.reports.facts.acceptance_terms import payments
from delivery.reports.facts.money import money
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.models import Role

MILESTONES = (("Contract signed", 30, "contract"), ("Provisional", 40, "preliminary"),
              ("Final", 30, "FA"))
QUOTED = {"title": "QT-1 V1", "totals": {"net": "1", "tax": "1", "gross": "490500.98"},
          "yuan": {"net": "1", "services": "0"}, "currency": "CNY", "lines": [], "payment": [
              {"name": name, "percent": str(percent), "amount": amount}
              for (name, percent, _trigger), amount in zip(
                  MILESTONES, ("147150.29", "196200.39", "147150.30"), strict=True)]}


def paid(engagement, kind: str, quoted: dict, language: str = "en") -> list[list[str]]:
    source = Source(Document(engagement=engagement, kind=kind))
    accepted = Quote(state=Quote.State.ACCEPTED, snapshot=quoted, content_hash="x")
    source.__dict__.update(quoted=quoted, quotes=[accepted] if quoted else [])
    return [row[:3] for row in in_language(payments(source), language)["rows"]]


def test_a_payment_is_the_agreed_one_and_without_an_agreement_there_is_none(planned, people):
    plans.set_milestones(actor=people[Role.MANAGER], plan=planned.plan, rows=[
        {"name": name, "name_en": name, "percent": Decimal(percent), "trigger": trigger}
        for name, percent, trigger in MILESTONES])
    assert paid(planned, "PA", QUOTED) == [["Provisional", "40 %", "CNY 196,200.39"]]
    assert paid(planned, "FA", QUOTED) == [["Final", "30 %", "CNY 147,150.30"]]
    assert paid(planned, "FA", QUOTED, "zh-hans") == [["Final", "30 %", "¥147,150.30"]]
    assert paid(planned, "FA", {}) == []


def test_an_amount_is_written_as_the_quotation_of_the_language_writes_it():
    assert money("CNY", "462736.77") == {"zh-hans": "¥462,736.77", "en": "CNY 462,736.77"}
    assert money("USD", Decimal(1000)) == {"zh-hans": "USD 1,000.00", "en": "USD 1,000.00"}
