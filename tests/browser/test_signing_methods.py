"""Ways to a signature and away from it: order of signers, sealed scan, declining, silence."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.acceptance import services
from delivery.acceptance.models import Review
from delivery.demo.sample_firm import PASSWORD
from delivery.reports import services as reporting
from engagements.models import Membership, Role, User
from tests.browser.test_acceptance import draw
from tests.browser.test_review import SIZES, Hand, open_version
from tests.delivery.acceptance.test_scan_validation import picture
from tests.delivery.conftest import deliver
from tests.delivery.review_steps import newest_code

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WINDOWS = [("phone", "zh-CN"), ("desk", "en-US")]
REASON = "印章尚未备案"


@pytest.fixture
def contract(quick_pages, engagement, people_with_mail):
    """A measured engagement; after five days without an answer the contract speaks."""
    deliver(engagement, people_with_mail)
    services.set_terms(actor=people_with_mail[Role.MANAGER], engagement=engagement, review_days=5,
                       is_deemed=True, clause="第 8.3 条")
    return engagement


@pytest.fixture
def opened(contract, people) -> Review:
    return open_version(people, reporting.draft_acceptance(
        actor=people[Role.MANAGER], engagement=contract)).review


@pytest.fixture
def colleague(contract) -> User:
    """Another reviewer of the customer."""
    made = User.objects.create_user("colleague", role=Role.REVIEWER, full_name="吴敏",
                                    password="Practice-2026", email="colleague@firm.example")
    Membership.objects.create(engagement=contract, user=made, role=Role.REVIEWER)
    return made


def begin(hand: Hand, review: Review) -> None:
    """Accept the terms and ask for the code."""
    hand.go(f"/documents/{review.document_id}/review/signing/")
    hand.type("#id_capacity", "信息中心主任")
    hand.click("form[action$='/identify/'] button.btn-primary", leads_on=True)


def type_code(hand: Hand, code: str) -> None:
    hand.type("#id_code", code)
    hand.click("form[action$='/sign/'] button.btn-primary", leads_on=True)


def sign_by_scan(hand: Hand, review: Review) -> None:
    begin(hand, review)
    hand.click("input[name=mark][value=scan]")
    hand.page.set_input_files("#id_scan", {"name": "盖章页.png", "mimeType": "image/png",
                                           "buffer": picture()})
    type_code(hand, newest_code())


def decline(hand: Hand, review: Review) -> None:
    hand.go(f"/documents/{review.document_id}/review/signing/")
    hand.click("#decline summary")
    hand.type("form[action$='/decline/'] textarea, form[action$='/decline/'] input[name=reason]",
              REASON)
    hand.click("form[action$='/decline/'] button", leads_on=True)


@pytest.mark.parametrize(("size", "language"), WINDOWS)
def test_one_signs_by_scan_the_next_waits_his_turn_and_declines(
        visit, opened, people, colleague, size, language):
    reviewer = people[Role.REVIEWER]
    services.name_signers(actor=people[Role.MANAGER], review=opened, users=[reviewer, colleague])
    services.decide(actor=reviewer, review=opened, decision="accepted")
    window = {"size": SIZES[size], "language": language}
    second = Hand(visit("colleague", **window), f"{size}-second")
    second.go(f"/documents/{opened.document_id}/review/signing/")  # no field to sign in yet
    assert not second.page.locator("#identify, #sign").count()
    assert second.page.locator("main", has_text=reviewer.full_name).count()
    assert not opened.signatures.exists()
    first = Hand(visit("reviewer", **window), size)
    sign_by_scan(first, opened)
    assert opened.signatures.get().mark == "scan"
    opened.document.refresh_from_db()
    assert opened.document.state == "issued"  # one is missing
    decline(second, opened)
    assert second.page.locator("#signatures", has_text=REASON).count()
    manager = Hand(visit("manager", **window), f"{size}-manager")
    manager.go(f"/documents/{opened.document_id}/review/")
    assert manager.page.locator("#signatures", has_text=REASON).count()
    for hand in (first, second, manager):
        assert hand.faults == []


@pytest.mark.parametrize(("size", "language"), WINDOWS)
def test_after_a_wrong_code_the_pad_still_shows_what_signs(visit, opened, people, size, language):
    """A second line is added to the first; both are seen, sent and stored."""
    services.decide(actor=people[Role.REVIEWER], review=opened, decision="accepted")
    hand = Hand(visit("reviewer", size=SIZES[size], language=language), f"{size}-wrong-code")
    begin(hand, opened)
    code = newest_code()
    draw(hand.page)
    type_code(hand, "x")
    lines = hand.page.locator("[data-desk-pad] polyline")
    assert lines.count() == 1
    assert lines.first.is_visible()
    draw(hand.page)
    assert lines.count() == 2
    type_code(hand, code)
    assert len(opened.signatures.get().strokes) == 2
    assert hand.faults == []


def test_a_double_click_two_tabs_a_lost_session_and_the_back_button(visit, opened, people):
    """None of them signs twice, costs a second attempt, or ends without a word."""
    services.decide(actor=people[Role.REVIEWER], review=opened, decision="accepted")
    hand = Hand(visit("reviewer", size=SIZES["desk"]), "desk-tabs")
    page, button = hand.page, "form[action$='/sign/'] button.btn-primary"
    begin(hand, opened)
    code, address = newest_code(), page.url.partition("#")[0]
    hand.type("#id_code", f"{(int(code) + 1) % 1_000_000:06}")
    page.dblclick(button)
    page.locator("#sign [role=alert], #sign .alert").first.wait_for()
    assert opened.identifications.get().attempts == 1
    tab = page.context.new_page()
    tab.goto(address)
    page.context.clear_cookies(name="sessionid")
    hand.type("#id_code", code)
    hand.click(button, leads_on=True)
    assert "/login/" in page.url
    assert not opened.signatures.exists()
    page.fill("#id_username", "reviewer")
    page.fill("#id_password", PASSWORD)
    hand.click("form[novalidate] button[type=submit]", leads_on=True)
    assert page.url.partition("#")[0] == address  # back where one was, the code still signs
    tab.goto(address)
    type_code(hand, code)
    assert opened.signatures.count() == 1
    for again in (tab, page):
        if again is page:
            page.go_back()
        if again.locator("#id_code").count():
            again.fill("#id_code", code)
            with again.expect_navigation():
                again.click(button)
        assert again.locator("main", has_text="已签署").count()
    assert opened.signatures.count() == 1


@pytest.mark.parametrize(("size", "language"), WINDOWS)
def test_silence_counts_once_the_notice_is_proven(visit, opened, size, language):
    Review.objects.filter(pk=opened.pk).update(opened_at=timezone.now() - timedelta(days=9))
    hand = Hand(visit("manager", size=SIZES[size], language=language), f"{size}-silence")
    page = hand.page
    hand.go(f"/documents/{opened.document_id}/review/")
    assert not page.locator("form[action$='/deemed/']").count()
    hand.click("details:has(form[action$='/notice/']) summary")
    page.select_option("form[action$='/notice/'] select", "courier")
    hand.type("#id_addressee", "陈国栋")
    hand.type("#id_reference", "SF1234567890")
    hand.type("#id_delivered_on", (timezone.localdate() - timedelta(days=6)).isoformat())
    hand.click("form[action$='/notice/'] button", leads_on=True)
    hand.click("form[action$='/deemed/'] button", leads_on=True)
    opened.refresh_from_db()
    assert (opened.decision, opened.document.state) == ("deemed", "issued")
    assert (hand.faults, hand.visitor.errors) == ([], [])
