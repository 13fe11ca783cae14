"""Plan, quotation and statement of work share one effort, or the document says why not."""

from decimal import Decimal

import pytest
from django.utils.translation import override

from delivery.planning.effort.usage import current_estimate
from delivery.planning.queries import grand_total
from delivery.quotes.models import Quote
from delivery.reports import services
from delivery.reports.facts.planning import effort_compared
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks import checks
from engagements.models import Role
from tests.delivery.reports.test_kinds import drafted

PASSAGE = {"AS": "as_effort", "SOW": "sow_effort"}


def sentences(document) -> list[str]:
    with override("en"):
        return [problem.sentence for problem in checks.effort_explained(
            PASSAGE[document.kind])(document)]


@pytest.fixture
def quoted(planned, people):
    """An accepted quotation with that many person-days more than the estimate says."""
    def quote(more: str) -> Decimal:
        likely = grand_total(current_estimate(planned))["likely"]
        Quote.objects.create(
            engagement=planned, number="QT-1", state=Quote.State.ACCEPTED, created_by=people[
                Role.SALES], quote_date="2025-06-01", valid_until="2025-12-01",
            content_hash="ab" * 32,
            snapshot={
                "number": "QT-1", "version": 1, "currency": "CNY", "lines": [], "payment": [],
                "totals": {"net": "1.00", "tax": "0.06", "gross": "1.06"},
                "staffing": [{"grade": "expert", "days": str(likely + Decimal(more))}]})
        return likely

    return quote


def test_without_a_quotation_there_is_nothing_to_compare(planned, people):
    assert effort_compared(Source(drafted(planned, people, "SOW")))["rows"] == []


@pytest.mark.parametrize("code", ["AS", "SOW"])
def test_half_a_day_of_difference_is_explained_or_stops_the_issuing(
        planned, people, quoted, code):
    likely = quoted("0.5")
    document = drafted(planned, people, code)
    assert sentences(document) == [
        f"The estimate says {likely:.1f} person-days, the quotation "
        f"{likely + Decimal('0.5'):.1f}; bring them into line, or write the passage that explains "
        "the difference."]
    document = services.write_words(actor=people[Role.MANAGER], document=document, words={
        PASSAGE[code]: {"zh": "报价含驻场。", "en": "The quotation holds work on site."}})
    assert sentences(document) == []


def test_the_same_effort_needs_no_explanation(planned, people, quoted):
    quoted("0")
    document = drafted(planned, people, "SOW")
    assert sentences(document) == []
    assert document.snapshot["tables"]["effort_compared"]["rows"][-1][-1] == "0.0"
