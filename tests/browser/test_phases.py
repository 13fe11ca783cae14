"""From the mail of an invitation: a rejection, preliminary acceptance with a condition by two
signers, trial run with an issue, final acceptance, claim: on a tablet, in English on a phone."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.utils import timezone

from delivery.acceptance import services
from delivery.acceptance.models import Review
from delivery.demo.sample_firm import PASSWORD
from delivery.portal.invitations.mail import send_invitation
from delivery.portal.invitations.services import invite_people
from delivery.reports import services as reporting
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import Membership, Role, User
from tests.browser.conftest import Visitor
from tests.browser.test_review import (
    Hand,
    accept_with_a_condition,
    open_version,
    receive,
    reject,
    sign,
)
from tests.delivery.acceptance.test_scan_validation import picture
from tests.delivery.conftest import deliver

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WINDOWS = {"tablet": {"size": (768, 1024), "language": "zh-CN"},
           "phone": {"size": (390, 844), "language": "en-US"}}
SIGNED = {"zh-CN": "已签署", "en-US": "Signed"}


@pytest.fixture
def preliminary(quick_pages, engagement, people_with_mail):
    """A measured engagement whose contract asks for both acceptances; the first one is open."""
    people = people_with_mail
    deliver(engagement, people)
    services.set_terms(actor=people[Role.MANAGER], engagement=engagement, has_preliminary=True,
                       trial_days=30, review_days=5, warranty_months=12)
    return open_version(people, draft(people, engagement, "PA"))


def draft(people, engagement, kind: str):
    return reporting.draft_document(actor=people[Role.MANAGER], engagement=engagement, kind=kind)


def worded(people, document):
    return reporting.write_words(
        actor=people[Role.MANAGER], document=document,
        words={"fa_trial": {"zh": "试运行三十天，无故障。", "en": "Thirty days without a fault."}})


def end_the_trial(review: Review) -> None:
    """The days pass."""
    review.trial_ends_on = timezone.localdate() - timedelta(days=1)
    review.save(update_fields=["trial_ends_on"])


def report(people, condition, text: str) -> None:
    services.report_condition(actor=people[Role.CONSULTANT], condition=condition, report=text)


def send_back_then_close(hand: Hand, people, document) -> None:
    """What is reported first is not enough; the second report is confirmed."""
    condition, page = document.review.conditions.get(), f"/documents/{document.pk}/review/"
    report(people, condition, "手册已补充，见交付清单。")
    hand.go(page)
    hand.click("#conditions details:has(form[action$='/send-back/']) summary")
    hand.type("form[action$='/send-back/'] textarea", "缺附录 B")
    attach(hand, "form[action$='/send-back/'] input[type=file]")
    hand.click("form[action$='/send-back/'] button", leads_on=True)
    report(people, condition, "附录 B 已补")
    hand.go(page)
    assert hand.page.locator("#conditions", has_text="缺附录 B").count()
    hand.click("#conditions form[action$='/close/'] button", leads_on=True)


def attach(hand: Hand, selector: str) -> None:
    hand.page.set_input_files(selector, {"name": "截图.png", "mimeType": "image/png",
                                         "buffer": picture()})


def report_an_issue(hand: Hand, people, engagement) -> None:
    hand.go("/")
    hand.click("main a[href$='/warranty/#trial']", leads_on=True)
    hand.click("#trial details:has(form[action$='/trial-issues/']) summary")
    hand.type("#trial textarea[name=description]", "夜间推理偶发超时")
    hand.click("#trial input[name=level][value=major]")
    attach(hand, "form[action$='/trial-issues/'] input[type=file]")
    hand.click("form[action$='/trial-issues/'] button", leads_on=True)
    services.comment_issue(actor=people[Role.CONSULTANT], text="连接池已扩大",
                           issue=engagement.project_issues.get())
    hand.go(f"/engagements/{engagement.code}/warranty/")
    assert hand.page.locator("#trial", has_text="连接池已扩大").count()
    hand.click("form[action$='/resolve/'] button", leads_on=True)


def claim(hand: Hand, engagement) -> None:
    hand.go(f"/engagements/{engagement.code}/warranty/")
    form = "form.desk-form "
    hand.type(form + "textarea[name=description]", "升级驱动后偶发为空")
    hand.type(form + "input[name=found_on]", timezone.localdate().isoformat())
    attach(hand, form + "input[type=file]")
    hand.click(form + "button.btn-primary", leads_on=True)
    assert hand.page.locator("main", has_text="升级驱动后偶发为空").count()
    assert engagement.warranty_claims.get().history.get().file_name == "截图.png"


def sign_both(first: Hand, second: Hand, document) -> None:
    """The first has decided and stands on the page of signing; the second follows."""
    sign(first)
    document.refresh_from_db()
    assert document.state == "issued"  # concluded by both, not by the first
    second.go("/")
    second.click(f"main a[href='/documents/{document.pk}/review/signing/']", leads_on=True)
    sign(second)
    document.refresh_from_db()
    assert document.state == "signed"


def accept_invitation(hand: Hand, people, engagement) -> User:
    """The link of the mail, a password, and one is on one's own desk."""
    [colleague] = invite_people(actor=people[Role.ADMINISTRATOR], people=[{
        "username": "colleague", "full_name": "吴敏", "role": Role.REVIEWER,
        "email": "colleague@firm.example", "job_title": "总工程师"}])
    Membership.objects.create(engagement=engagement, user=colleague, role=Role.REVIEWER)
    send_invitation(colleague.pk)
    sent = mail.outbox[-1]
    assert (sent.to, engagement.code in sent.body) == (["colleague@firm.example"], True)
    hand.go(urlsplit(re.search(r"https?://\S+", sent.body).group()).path)
    for field in ("#id_new_password1", "#id_new_password2"):
        hand.type(field, PASSWORD)
    hand.click("form button.btn-primary", leads_on=True)
    hand.type("#id_username", "colleague")
    hand.type("#id_password", PASSWORD)
    hand.click("form[novalidate] button[type=submit]", leads_on=True)
    assert hand.page.locator("main", has_text=engagement.code).count()
    return User.objects.get(pk=colleague.pk)


@pytest.mark.parametrize("window", WINDOWS)
def test_rejected_then_preliminary_then_trial_then_final(
        window, visit, chromium, live_server, preliminary, people_with_mail, capsys):
    """The whole way, from the invitation to a claim under the warranty."""
    people, engagement = people_with_mail, preliminary.engagement
    manager = people[Role.MANAGER]
    hand = Hand(visit("reviewer", **WINDOWS[window]), window)
    second = Hand(Visitor(chromium, live_server.url, **WINDOWS[window]), f"{window}-second")
    colleague = accept_invitation(second, people, engagement)
    hand.go(f"/documents/{preliminary.pk}/review/")
    reject(hand)
    sign(hand)
    assert hand.page.locator(".page-title .desk-tag.bg-red-lt", has_text=SIGNED[
        WINDOWS[window]["language"]]).count()
    preliminary = open_version(people, reporting.draft_correction(
        actor=manager, document=preliminary, reason="补测 PSR"))
    services.name_signers(actor=manager, review=preliminary.review,
                          users=[people[Role.REVIEWER], colleague], capacities=["", "总工程师"])
    hand.go(f"/documents/{preliminary.pk}/review/")
    receive(hand)
    accept_with_a_condition(hand)
    sign_both(hand, second, preliminary)
    review = Review.objects.get(document=preliminary)
    assert review.trial_ends_on == timezone.localdate() + timedelta(days=30)
    final = worded(people, draft(people, engagement, "FA"))
    with pytest.raises(WrongState, match=review.trial_ends_on.isoformat()):
        open_version(people, final)
    report_an_issue(hand, people, engagement)
    end_the_trial(review)
    with pytest.raises(WrongState, match="补充运维手册"):
        services.open_review(actor=manager, document=final)
    send_back_then_close(hand, people, preliminary)
    with pytest.raises(WrongState, match="请起草新版本"):
        services.open_review(actor=manager, document=final)
    final = open_version(people, worded(people, reporting.draft_correction(
        actor=manager, document=final, reason="试运行已结束")))
    hand.go("/")
    hand.click(f"main a[href='/documents/{final.pk}/review/']", leads_on=True)
    receive(hand)
    hand.click("input[name=decision][value=accepted]")
    hand.click("form[action$='/decide/'] button.btn-primary", leads_on=True)
    sign_both(hand, second, final)  # the same people, carried over from the preliminary one
    engagement.refresh_from_db()
    assert engagement.state == "accepted"
    claim(hand, engagement)
    with capsys.disabled():
        print(f"\n{window}, both acceptances: {hand.clicks} clicks, {hand.characters} characters, "
              f"{hand.pages} pages, {hand.minutes:.1f} minutes without reading")
    assert (hand.faults, hand.visitor.errors) == ([], [])
    assert (second.faults, second.visitor.errors) == ([], [])
    assert not any(audit_log.findings())
    assert list(audit_log.row_differences()) == []
