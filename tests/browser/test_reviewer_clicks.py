"""From the link in the e-mail to the signed certificate: the reviewer's clicks are counted."""

import re

import pytest
from django.core import mail
from django.utils import timezone

from delivery.demo.sample_firm import PASSWORD
from delivery.notices.models import Dispatch
from delivery.notices.transport import send_dispatches
from engagements.models import Role
from tests.browser.conftest import Visitor
from tests.browser.test_review import Hand, first

__all__ = ["first"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_CLICKS = 8  # from the page that the link opens; what is typed into counts as clicked
PAPERS = 3


@pytest.fixture
def link(first, people) -> str:
    """The path that the e-mail to the reviewer names."""
    reviewer = people[Role.REVIEWER]
    reviewer.job_title = "信息中心主任"
    reviewer.save()
    Dispatch.objects.update(due_at=timezone.now())  # the pause in which notices are collected
    send_dispatches.send_mail_to(reviewer.pk)
    path = f"/documents/{first.pk}/review/"
    assert [m for m in mail.outbox if reviewer.email in m.to and path in m.body]
    return path


def test_from_the_e_mail_to_the_signature(chromium, live_server, first, link, capsys):
    visitor = Visitor(chromium, live_server.url)
    page = visitor.open(link)
    page.fill("#id_username", "reviewer")
    page.fill("#id_password", PASSWORD)
    with page.expect_navigation():
        page.click("form[novalidate] button[type=submit]")
    assert page.url == live_server.url + link
    hand = Hand(visitor, "desk")
    assert page.locator("#deliverables input[name=keys]").count() >= PAPERS
    assert visitor.faults() == []
    hand.click("#deliverables [data-desk-all] input")
    hand.click("#deliverables .card-footer button", leads_on=True)
    hand.type("#comments textarea[name=text]", "证据已逐项核对。")
    hand.click("#comments form[action$='/comment/'] button", leads_on=True)
    hand.click("input[name=decision][value=accepted]")
    hand.click("form[action$='/decide/'] button.btn-primary", leads_on=True)
    hand.click("form[action$='/identify/'] button.btn-primary", leads_on=True)
    assert page.evaluate("document.activeElement.id") == "id_code"
    page.keyboard.type(re.search(r"(?<!\d)\d{6}(?!\d)", mail.outbox[-1].body).group())
    hand.click("form[action$='/sign/'] button.btn-primary", leads_on=True)
    first.refresh_from_db()
    with capsys.disabled():
        print(f"\n{hand.clicks} clicks")
    assert first.state == "signed"
    assert (hand.faults, visitor.errors) == ([], [])
    assert hand.clicks <= MOST_CLICKS
