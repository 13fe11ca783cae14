"""The ledger of payment milestones: what is owed, by which paper, invoiced and paid."""

import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from openpyxl import load_workbook

from delivery.agreement.queries import offered
from delivery.agreement.services import agree
from delivery.invoicing import services
from delivery.invoicing.ledger import (
    LedgerState,
    ages_of,
    entries_of,
    in_ledger_state,
    milestones_of,
)
from delivery.invoicing.models import Invoice, Payment
from delivery.planning.models import Milestone
from delivery.planning.services import plans
from delivery.portal.home.exceptions import exceptions_of
from delivery.quotes import services as quoting
from engagements import services as engaging
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.quotes.conftest import (  # noqa: F401
    _in_english,
    card,
    issue,
    issued,
    quote,
)

today = timezone.localdate
ROWS = [{"name": "首付款", "percent": Decimal(30), "trigger": "contract"},  # as the quote has them
        {"name": "进度款", "percent": Decimal(40), "trigger": "TR"},
        {"name": "尾款", "percent": Decimal(30), "trigger": "FA"}]


@pytest.fixture
@cached_fixture
def milestones(people, engagement, issued):  # noqa: F811
    engaging.add_model(actor=people[Role.MANAGER], engagement=engagement, code="PSR", name="PSR")
    quoting.answer_quote(actor=people[Role.REVIEWER], quote=issued, is_accepted=True)
    plan = plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement, starts_on=today())
    return plans.set_milestones(actor=people[Role.MANAGER], plan=plan, rows=ROWS)


def states(user) -> list[str]:
    found = entries_of(milestones_of(user).select_related("plan__engagement"))
    for state in LedgerState:  # what the database filters is what the page says
        assert [row.pk for row in in_ledger_state(milestones_of(user), state)] == [
            entry.milestone.pk for entry in found if entry.state == state]
    return [str(entry.state) for entry in found]


def test_amounts_follow_the_agreed_price_to_the_cent(people, milestones, issued):  # noqa: F811
    found = entries_of(milestones)
    assert sum(entry.amount for entry in found) == Decimal(issued.snapshot["totals"]["gross"])
    assert found[0].amount == (Decimal(issued.snapshot["totals"]["gross"]) * 30 / 100).quantize(
        Decimal("0.01"))


def test_a_milestone_goes_from_open_to_paid(people, milestones):
    sales = people[Role.SALES]
    assert states(sales) == ["not_due", "not_due", "not_due"]
    engagement = milestones[0].plan.engagement
    agree(actor=people[Role.MANAGER], engagement=engagement, values=offered(engagement).values,
          basis="SoW")
    assert states(sales) == ["due", "not_due", "not_due"]
    invoice = services.add_invoice(actor=sales, milestone=milestones[0], number="2026-001",
                                   issued_on=today())
    assert states(sales) == ["invoiced", "not_due", "not_due"]
    Invoice.objects.filter(pk=invoice.pk).update(issued_on=today() - timedelta(days=50),
                                                 due_on=today() - timedelta(days=5))
    assert states(sales) == ["overdue", "not_due", "not_due"]
    assert [bool(age["amounts"]) for age in ages_of(sales)] == [False, True, False, False, False]
    services.add_payment(actor=sales, invoice=invoice, paid_on=today(), amount=Decimal(100))
    assert states(sales) == ["overdue", "not_due", "not_due"]
    services.add_payment(actor=sales, invoice=invoice, paid_on=today())
    assert states(sales) == ["paid", "not_due", "not_due"]
    assert not any(age["amounts"] for age in ages_of(sales))


def test_a_credit_note_takes_an_invoice_back(people, milestones):
    sales = people[Role.SALES]
    invoice = services.add_invoice(actor=sales, milestone=milestones[0], number="1",
                                   issued_on=today())
    services.add_credit_note(actor=sales, invoice=invoice, number="1-R", issued_on=today())
    assert states(sales) == ["not_due", "not_due", "not_due"]
    again = services.add_invoice(actor=sales, milestone=milestones[0], number="2",
                                 issued_on=today())
    assert again.amount == invoice.amount
    with pytest.raises(InvalidInput):
        services.add_payment(actor=sales, invoice=invoice, paid_on=today(), amount=Decimal(1))


@pytest.mark.parametrize("fields", [
    {"amount": Decimal(0)}, {"amount": Decimal(10**9)}, {"number": " "},
    {"issued_on": today() + timedelta(days=2)}, {"due_on": today() - timedelta(days=1)}])
def test_what_is_not_owed_is_not_invoiced(people, milestones, fields):
    with pytest.raises(InvalidInput):
        services.add_invoice(actor=people[Role.SALES], milestone=milestones[0], **{
            "number": "1", "issued_on": today(), **fields})
    assert not Invoice.objects.exists()


def test_an_invoiced_milestone_stays_on_the_plan(people, milestones):
    services.add_invoice(actor=people[Role.SALES], milestone=milestones[2], number="1",
                         issued_on=today())
    plan = milestones[0].plan
    with pytest.raises(WrongState):
        plans.set_milestones(actor=people[Role.MANAGER], plan=plan, rows=[
            {**ROWS[0], "percent": Decimal(50)}, {**ROWS[1], "percent": Decimal(50)}])
    plans.set_milestones(actor=people[Role.MANAGER], plan=plan, rows=[
        {**ROWS[0], "name": "预付款"}, *ROWS[1:]])
    assert Milestone.objects.get(pk=milestones[0].pk).name == "预付款"
    assert Invoice.objects.get().milestone_id == milestones[2].pk


def listed(*rows: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("回款.csv", "\n".join(
        ("number,paid_on,amount,reference", *rows)).encode())


def test_payments_come_back_from_the_finance_system(people, milestones):
    sales = people[Role.SALES]
    services.add_invoice(actor=sales, milestone=milestones[0], number="2026-001", issued_on=today())
    with pytest.raises(InvalidInput) as refused:
        services.import_payments(actor=sales, upload=listed(
            f"2026-001,{today()},100.00,a", f"2026-002,{today()},1,b", "2026-001,bald,1,c",
            f"2026-001,{today()},1e99,d"))
    assert refused.value.message.count("\n") == 2
    assert not Payment.objects.exists()
    file = listed(f"2026-001,{today()},100.00,a", f'2026-001,{today()},"1,200.50",b')
    assert len(services.import_payments(actor=sales, upload=file)) == 2
    file.seek(0)
    assert services.import_payments(actor=sales, upload=file) == []  # the same list again
    assert sum(payment.amount for payment in Payment.objects.all()) == Decimal("1300.50")


def test_who_does_not_price_sees_no_ledger(people, milestones, client):
    for role in (Role.CONSULTANT, Role.REVIEWER, Role.OPERATOR):
        client.force_login(people[role])
        assert client.get("/milestones/").status_code == 403
        assert client.get("/api/v1/milestones/").status_code == 403
        with pytest.raises(NotAllowed):
            services.add_invoice(actor=people[role], milestone=milestones[0], number="1",
                                 issued_on=today())


def test_the_page_the_api_and_the_workbook_say_the_same(people, milestones, client):
    client.force_login(people[Role.SALES])
    client.post(f"/milestones/{milestones[0].pk}/invoice/",
                {"number": "2026-001", "issued_on": str(today())})
    invoice = Invoice.objects.get()
    client.post(f"/invoices/{invoice.pk}/payment/", {"paid_on": str(today()), "amount": "1.00"})
    assert Payment.objects.get().amount == 1
    page = client.get("/milestones/").content.decode()
    rows = client.get("/api/v1/milestones/").json()["results"]
    book = load_workbook(io.BytesIO(b"".join(client.get("/milestones/xlsx/").streaming_content)))
    cells = [[cell.value for cell in row] for row in book.active.iter_rows(min_row=2)]
    assert [(row["id"], row["amount"], row["invoiced"], row["paid"]) for row in rows] == [
        (row[0], f"{row[6]:.2f}", f"{row[9]:.2f}", f"{row[10]:.2f}") for row in cells]
    assert all(f"{Decimal(row['amount']):,.2f}" in page for row in rows)
    made = client.post(f"/api/v1/milestones/{milestones[1].pk}/invoices/", {
        "number": "2026-002", "issued_on": str(today()), "amount": "10.00"},
        content_type="application/json")
    assert made.status_code == 201, made.json()
    credit = client.post(f"/api/v1/invoices/{made.json()['id']}/credit/", {
        "number": "2026-003", "issued_on": str(today())}, content_type="application/json")
    assert credit.json()["amount"] == "-10.00"
    ages = client.get("/api/v1/invoices/ages/").json()
    assert ages[0]["amounts"] == [{"currency": "CNY", "amount": f"{invoice.amount - 1:.2f}"}]


def test_an_overdue_invoice_is_an_exception_of_the_manager(people, milestones):
    invoice = services.add_invoice(actor=people[Role.SALES], milestone=milestones[0], number="7",
                                   issued_on=today())
    assert [row for row in exceptions_of(people[Role.MANAGER]).rows if row.kind == "invoice"] == []
    Invoice.objects.filter(pk=invoice.pk).update(issued_on=today() - timedelta(days=50),
                                                 due_on=today() - timedelta(days=5))
    services.add_payment(actor=people[Role.SALES], invoice=invoice, paid_on=today(),
                         amount=Decimal(1))
    [row] = [row for row in exceptions_of(people[Role.MANAGER]).rows if row.kind == "invoice"]
    assert (row.days, f"{invoice.amount - 1:,.2f}" in row.sentence) == (5, True)
    assert [row.kind for row in exceptions_of(people[Role.CONSULTANT]).rows] == []


def test_an_invoice_is_payable_when_it_was_agreed(people, milestones):
    """The quote's terms: 10 days for the first payment, 15 for the others."""
    dues = [services.add_invoice(actor=people[Role.SALES], milestone=row, number=f"{n}",
                                 issued_on=today()).due_on for n, row in enumerate(milestones)]
    assert [(due - today()).days for due in dues] == [10, 15, 15]


def test_without_agreed_days_somebody_says_the_day(people, milestones):
    """The plan's payments are others than the agreed ones."""
    first, second, _last = milestones
    Milestone.objects.filter(pk=first.pk).update(percent=Decimal(40))
    Milestone.objects.filter(pk=second.pk).update(percent=Decimal(30))
    new = {"actor": people[Role.SALES], "milestone": first, "number": "1", "issued_on": today()}
    with pytest.raises(InvalidInput, match="give the day"):
        services.add_invoice(**new)
    assert services.add_invoice(**new, due_on=today()).due_on == today()
