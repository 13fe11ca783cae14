"""Author, reviewer, approver: three people; and what the customer's copy never shows."""

import io
from decimal import Decimal

import openpyxl
import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from pypdf import PdfReader

from delivery.quotes import services
from delivery.quotes.models import Quote
from delivery.quotes.rendering import quote_pdf
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Membership, Role, User
from tests.cached_fixtures import cached_fixture

NOTE = "底价：可再让三个点"


@pytest.fixture
@cached_fixture
def submitted(people, quote):
    services.update_quote(actor=people[Role.SALES], quote=quote, source_note="已核",
                          internal_note=NOTE)
    return services.submit_quote(actor=people[Role.SALES], quote=quote)


@pytest.fixture
def second_manager(engagement):
    user = User.objects.create_user("manager2", role=Role.MANAGER)
    Membership.objects.create(engagement=engagement, user=user, role=Role.MANAGER)
    return user


def test_review_and_approval_are_steps_of_different_people(people, submitted, second_manager):
    manager = people[Role.MANAGER]
    with pytest.raises(WrongState):
        services.approve_quote(actor=manager, quote=submitted)
    with pytest.raises(NotAllowed, match=r"Author of .* is Sales; Reviewer .* Manager\."):
        services.review_quote(actor=people[Role.SALES], quote=submitted)
    for role in (Role.OPERATOR, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            services.review_quote(actor=people[role], quote=submitted)
    reviewed = services.review_quote(actor=manager, quote=submitted, note="人天已核")
    assert (reviewed.state, reviewed.reviewed_by) == ("reviewed", manager)
    assert AuditEntry.objects.get(action="quote.review").data["reason"] == "人天已核"
    with pytest.raises(NotAllowed, match=r"Reviewer of .* is Manager; Approver .* manager2"):
        services.approve_quote(actor=manager, quote=reviewed)
    approved = services.approve_quote(actor=second_manager, quote=reviewed)
    assert (approved.state, approved.reviewed_by, approved.approved_by) == (
        "approved", manager, second_manager)


def test_the_database_refuses_an_author_who_approves(submitted):
    with pytest.raises(IntegrityError), transaction.atomic():
        Quote.objects.filter(pk=submitted.pk).update(approved_by=submitted.created_by)


def test_sent_back_by_the_reviewer_or_the_approver(people, submitted):
    consultant, manager = people[Role.CONSULTANT], people[Role.MANAGER]
    with pytest.raises(InvalidInput):
        services.return_quote(actor=consultant, quote=submitted, reason=" ")
    with pytest.raises(NotAllowed, match="withdraw"):
        services.return_quote(actor=people[Role.SALES], quote=submitted, reason="x")
    services.review_quote(actor=consultant, quote=submitted)
    with pytest.raises(NotAllowed):
        services.return_quote(actor=consultant, quote=submitted, reason="又想了想")
    back = services.return_quote(actor=manager, quote=submitted, reason="毛利过低")
    assert (back.state, back.reviewed_by, back.reviewed_at) == ("draft", None, None)
    services.submit_quote(actor=people[Role.SALES], quote=back)
    with pytest.raises(WrongState):
        services.approve_quote(actor=manager, quote=back)


def test_withdrawn_by_the_author_until_it_is_approved(people, submitted):
    sales = people[Role.SALES]
    with pytest.raises(NotAllowed):
        services.withdraw_quote(actor=people[Role.MANAGER], quote=submitted)
    services.review_quote(actor=people[Role.CONSULTANT], quote=submitted)
    assert services.withdraw_quote(actor=sales, quote=submitted).state == "draft"
    services.submit_quote(actor=sales, quote=submitted)
    services.review_quote(actor=people[Role.CONSULTANT], quote=submitted)
    services.approve_quote(actor=people[Role.MANAGER], quote=submitted)
    with pytest.raises(WrongState):
        services.withdraw_quote(actor=sales, quote=submitted)


@pytest.mark.slow
def test_pages_offer_each_step_to_its_people_only(client, people, submitted):
    url = reverse("quotes:quote", args=[submitted.pk])

    def offered():
        found = set()
        for role, user in people.items():
            client.force_login(user)
            moves = (client.get(url).context or {}).get("moves", [])
            found |= {(role, name) for name in ("review", "approve") if name in moves}
        return found

    assert offered() == {(role, "review") for role in (Role.ADMINISTRATOR, Role.MANAGER,
                                                       Role.CONSULTANT)}
    client.force_login(people[Role.CONSULTANT])
    client.post(reverse("quotes:move", args=[submitted.pk, "review"]))
    assert offered() == {(Role.ADMINISTRATOR, "approve"), (Role.MANAGER, "approve")}


@pytest.mark.slow
def test_internal_note_stays_within_the_firm(client, people, submitted, issue):
    services.withdraw_quote(actor=people[Role.SALES], quote=submitted)
    services.update_quote(actor=people[Role.SALES], quote=submitted,
                          discount_rate=Decimal("0.05"), discount_reason="框架协议")
    issued = issue(submitted)
    later = services.new_version(actor=people[Role.SALES], quote=issued, reason="x")
    assert later.internal_note == NOTE
    urls = [reverse("quotes:quote", args=[issued.pk]), f"/api/v1/quotes/{issued.pk}/",
            "/api/v1/quotes/", reverse("quotes:compare", args=[issued.pk, issued.pk])]
    client.force_login(people[Role.SALES])
    assert NOTE in client.get(urls[0]).content.decode()
    assert client.get(urls[1]).json()["internal_note"] == NOTE
    client.force_login(people[Role.REVIEWER])
    for url in urls:
        text = client.get(url).content.decode()
        assert (NOTE in text, "internal_note" in text, "approved_by" in text) == (
            False, False, False)
    assert NOTE not in str(issued.snapshot)
    services.store_quote_files(issued.pk)
    for language in ("zh-hans", "en"):
        pdf = PdfReader(io.BytesIO(quote_pdf(issued, language)))
        words = "".join(page.extract_text() for page in pdf.pages) + str(pdf.metadata)
        book = openpyxl.load_workbook(io.BytesIO(client.get(
            reverse("quotes:xlsx", args=[issued.pk, language])).content))
        cells = [str(cell.value) for sheet in book for row in sheet for cell in row]
        assert not any(NOTE in text for text in [words, *cells])
