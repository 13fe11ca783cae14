"""Every field that DOMAIN 9.2 and 9.10 ask of the documents of the project and of the quotation."""

import io
import re
from decimal import Decimal

import pypdf
import pytest

from delivery.planning import pdf_documents
from delivery.planning.control.weekly_labels import first_words
from delivery.planning.services import plans, weekly_reports
from delivery.quotes.models import Quote
from delivery.quotes.rendering import quote_pdf
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.planning.conftest import MONDAY
from tests.delivery.planning.test_pdf_documents import words

PAPERS = {
    "meeting": (pdf_documents.minutes_pdf, (
        "Number", "Topic", "Time", "Place or method", "Chair", "Recorded by",
        "Participants (organisation)", "Agenda", "Discussion", "Decisions", "To-dos", "Owner",
        "Due date", "Attachments", "Seal")),
    "week": (pdf_documents.weekly_pdf, (
        "Project", "Period", "Reported by", "Overall state", "Milestone", "Agreed", "Now",
        "Reasons for deviations", "Done this week", "In progress", "Not started",
        "Plan for next week", "Problems and countermeasures", "Risks", "Person-days", "Agreed",
        "Needed from the customer", "Changes")),
    "change": (pdf_documents.change_pdf, (
        "Number", "Name", "Requested by", "Date", "Category", "Reason", "Before", "After",
        "Effect on scope", "Effect on schedule", "Effect on price", "Effect on quality",
        "Effect on acceptance criteria", "Measures", "Approvals", "Follow-up and result", "Seal")),
    "sheet": (pdf_documents.timesheet_pdf, (
        "Period", "Person", "Grade", "Date", "Task", "Person-days", "Total to date", "By contract",
        "Confirmation in the system", "Seal")),
}
QUOTE = ("Number and version", "Date", "Valid until", "To", "Unified social credit code", "From",
         "Bank", "Account number", "Project", "Currency", "Category", "Item", "Grade", "Unit",
         "Total excluding tax", "VAT", "Total including tax", "Amount in words", "Milestone",
         "Invoice type", "Seal", "Authorised representative (signature)")


@pytest.fixture
@cached_fixture
def week(people, agreed):
    """A weekly report of a plan with a milestone."""
    made = agreed.plan
    plans.set_milestones(actor=people[Role.MANAGER], plan=made, rows=[
        {"name": "终验", "name_en": "Final acceptance", "percent": Decimal(100), "trigger": "FA",
         "task": made.tasks.last()}])
    return weekly_reports.draft_weekly(actor=people[Role.CONSULTANT], engagement=agreed, day=MONDAY)


def lost(pdf: bytes, labels: tuple[str, ...]) -> list[str]:
    """Labels that the document does not print; a label may be broken over two lines."""
    found = re.sub(r"\s", "", words(pdf))
    return [label for label in labels if re.sub(r"\s", "", label) not in found]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_of_the_project_prints_every_field(request, name):
    make, labels = PAPERS[name]
    assert lost(make(request.getfixturevalue(name), "en"), labels) == []


@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_a_busy_week_is_two_pages(week, language):
    """Fifty tasks, ten models that moved, and everything late."""
    [milestone] = week.facts["plan"]["milestones"]
    task = next(iter(week.facts["plan"]["next"]))
    week.facts |= {
        "moves": [{"model": f"M{n}", "stage": "train_tune", "move": "pass", "by": "林雪",
                   "by_en": "Lin Xue"} for n in range(10)],
        "open_issues": [{"issue": f"I-{n:03} 测试集标注口径待客户确认", "due": "2025-09-30",
                         "is_late": True} for n in range(5)],
        "risks": [{"risk": f"算子不支持 {n}", "risk_en": f"Operator {n} is not supported",
                   "score": 20} for n in range(5)],
        "plan": {**week.facts["plan"], "milestones": [milestone] * 6, "next": [task] * 50,
                 "finished": [task] * 50, "in_progress": [task] * 50,
                 "late": [{"task": task, "slip": 9}] * 50}}
    for name, text in first_words(week.facts).items():
        setattr(week, name, text)
    made = pypdf.PdfReader(io.BytesIO(pdf_documents.weekly_pdf(week, language)))
    assert len(made.pages) == 2


@pytest.mark.slow
def test_a_quotation_prints_every_field(agreed):
    assert lost(quote_pdf(Quote.objects.get(), "en"), QUOTE) == []
