"""The customer's reviewer at work, on a phone and at a desk: reject, re-test, accept, sign.

Prints how many clicks and how many minutes it takes; the minutes by the keystroke-level model
(Card, Moran, Newell 1980), without the time for reading.
"""

import os
import re
from pathlib import Path

import pytest
from django.core import mail

from delivery.acceptance import services
from delivery.evidence.services import build_bundle
from delivery.reports import services as reporting
from delivery.reports.models import Document
from engagements.models import Role
from tests.browser.test_acceptance import draw
from tests.delivery.conftest import deliver, measure
from tests.document_steps import issued_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SIZES = {"phone": (375, 812), "desk": (1440, 900)}
POINT, THINK, KEY = 1.1 + 0.2, 1.35, 0.28  # seconds: reach and press, decide, type a character
SHOTS = os.environ.get("DESK_SHOTS")  # a folder for pictures of every step
SMALLEST = 24  # CSS pixels: WCAG 2.2, 2.5.8 target size (minimum)
AIM = 44  # what a thumb hits; buttons and ticks of this walk have it on a phone


class Hand:
    """Clicks and types as a person would, counts, and looks whether the page can be used."""

    def __init__(self, visitor, name: str):
        self.visitor, self.page, self.name = visitor, visitor.page, name
        self.clicks = self.fields = self.characters = self.pages = 0
        self.faults: list[str] = []

    def go(self, path: str) -> None:
        self.visitor.open(path)
        self._look()

    def click(self, selector: str, *, leads_on: bool = False) -> None:
        target = self.page.locator(selector).first
        target.scroll_into_view_if_needed()
        if "phone" in self.name:
            self._measure(target, selector)
        self.clicks += 1
        if leads_on:
            with self.page.expect_navigation():
                target.click()
            self._look()
        else:
            target.click()

    def type(self, selector: str, text: str) -> None:
        field = self.page.locator(selector).first
        field.fill(text)
        self.clicks += 1
        self.fields += 1
        self.characters += len(text)

    def choose(self, selector: str, value: str) -> None:
        self.page.locator(selector).first.select_option(value)
        self.clicks += 2  # the list and its line

    def _measure(self, target, selector: str) -> None:
        box = target.bounding_box()
        is_inline = target.evaluate("e => getComputedStyle(e).display === 'inline'")
        if not is_inline and box["height"] < (AIM if "button" in selector else SMALLEST):
            self.faults.append(f"{selector}: {box['width']:.0f} by {box['height']:.0f}")

    def _look(self) -> None:
        self.pages += 1
        if self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1"):
            self.faults.append(f"{self.page.url}: wider than the window")
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=f"{SHOTS}/{self.name}-{self.pages:02}.png", full_page=True)

    @property
    def minutes(self) -> float:
        return (self.clicks * (POINT + THINK) + self.characters * KEY) / 60


# A kind that has a page, and what its jobs prove.
ON_NPU = {"kind": "adapt.megatron_train", "results": {"device": "npu 0-7"}}


@pytest.fixture
def first(quick_pages, engagement, people_with_mail):
    """A measured engagement; its final acceptance is before the customer."""
    people = people_with_mail
    deliver(engagement, people, **ON_NPU)
    return open_version(people, reporting.draft_acceptance(actor=people[Role.MANAGER],
                                                           engagement=engagement))


def open_version(people, draft) -> Document:
    """Reviewed, issued, with its evidence, and put before the customer."""
    manager = people[Role.MANAGER]
    document = issued_document(draft, people)
    build_bundle(actor=manager, engagement=document.engagement, document=document)
    services.open_review(actor=manager, document=document)
    return document


def repeat(people, document) -> Document:
    """The team answers, measures again and issues the next version."""
    comment = document.review.comments.get()
    services.comment(actor=people[Role.CONSULTANT], review=document.review, answers=comment,
                     text="已核对：尖峰来自学习率预热，复测见新版本。")
    measure(document.engagement, people, document.engagement.models.get(code="PSR"), scale=1.002,
            **ON_NPU)
    return open_version(people, reporting.draft_correction(
        actor=people[Role.MANAGER], document=document, reason="补测 PSR"))


def look_through(hand: Hand, document: Document) -> None:
    """From the own desk to the review; one verdict down to its raw file and its run."""
    hand.go("/")
    hand.click(f"main a[href='/documents/{document.pk}/review/']", leads_on=True)
    back = hand.page.url
    hand.click("#model-LLM a[href*='/criteria/']", leads_on=True)
    for words in ("公式", "判定值"):
        assert hand.page.locator("main", has_text=words).count()
    hand.page.wait_for_selector(".desk-chart svg, .desk-chart canvas")
    hand.click("main a[href*='/artifacts/']:visible >> nth=-1", leads_on=True)
    hand.page.goto(back)
    hand.click("#model-LLM a[href*='/jobs/']", leads_on=True)
    hand.page.goto(back)


def receive(hand: Hand) -> None:
    assert not hand.page.locator("#deliverables input[name=keys]:checked").count()
    hand.click("#deliverables [data-desk-all] input")
    hand.click("#deliverables .card-footer button", leads_on=True)
    assert not hand.page.locator("#deliverables input[type=checkbox]").count()


def reject(hand: Hand) -> None:
    hand.click("[id^=metric-] details summary")
    hand.type("[id^=metric-] details[open] textarea", "为什么有尖峰？")
    hand.click("[id^=metric-] details[open] button", leads_on=True)
    for n in range(hand.page.locator("[data-desk-model]").count()):  # the whole follows them
        hand.click(f"[data-desk-model] >> nth={n} >> label.is-rejected")
        hand.type(f"[data-desk-model] >> nth={n} >> [data-desk-reason]", "PSR 未测，请补测。")
    hand.type("#id_reason", "PSR 未测，请补测。")
    hand.type("#id_retest_on", "2027-01-31")
    hand.click("form[action$='/decide/'] button.btn-primary", leads_on=True)


def see_the_repetition(hand: Hand, document: Document) -> None:
    """Old and new runs side by side, from the new version."""
    hand.go("/")
    hand.click(f"main a[href='/documents/{document.pk}/review/']", leads_on=True)
    hand.click("a[href$='/retest/']", leads_on=True)
    assert hand.page.locator(".desk-tag", has_text="新").count()
    hand.page.go_back()


def accept_with_a_condition(hand: Hand, *, effect: str = "blocks") -> None:
    hand.click("input[name=decision][value=conditional]")
    if not hand.page.locator("#id_conditions-0-description").is_visible():
        hand.click("form[action$='/decide/'] details:has(#id_conditions-0-description) summary")
    hand.type("#id_conditions-0-description", "补充运维手册")
    hand.type("#id_conditions-0-owner", "周启明")
    hand.type("#id_conditions-0-due_on", "2027-01-31")
    if effect != "blocks":
        hand.choose("#id_conditions-0-effect", effect)
    hand.click("form[action$='/decide/'] button.btn-primary", leads_on=True)


def sign(hand: Hand) -> None:
    """On the page of signing, to which an acceptance leads."""
    assert hand.page.url.endswith("/signing/")
    if hand.page.locator("#id_capacity").count():  # where neither account nor order name it
        hand.type("#id_capacity", "信息中心主任")
    hand.click("form[action$='/identify/'] button.btn-primary", leads_on=True)
    hand.type("#id_code", re.search(r"(?<!\d)\d{6}(?!\d)", mail.outbox[-1].body).group())
    draw(hand.page)
    hand.clicks += 2  # the choice and the stroke
    hand.click("form[action$='/sign/'] button.btn-primary", leads_on=True)


@pytest.mark.parametrize("size", SIZES)
def test_reject_re_test_accept_and_sign(visit, first, people, size, capsys):
    hand = Hand(visit("reviewer", size=SIZES[size]), size)
    look_through(hand, first)
    receive(hand)
    reject(hand)
    second = repeat(people, first)
    see_the_repetition(hand, second)
    receive(hand)
    accept_with_a_condition(hand, effect="none")
    sign(hand)
    second.refresh_from_db()
    assert (second.state, second.engagement.state) == ("signed", "active")  # a condition is open
    assert services.complete_signed_copies() == 2
    with capsys.disabled():
        print(f"\n{size}: {hand.clicks} clicks, {hand.characters} characters, "
              f"{hand.pages} pages, {hand.minutes:.1f} minutes without reading")
    assert hand.faults == []
    assert hand.visitor.errors == []
    assert hand.clicks <= 40
