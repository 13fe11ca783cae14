"""Preliminary acceptance with a condition, trial period, final acceptance: on a tablet."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.acceptance import services
from delivery.acceptance.models import Review
from delivery.reports import services as reporting
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import Role
from tests.browser.test_review import (
    Hand,
    accept_with_a_condition,
    open_version,
    receive,
    sign,
)
from tests.delivery.conftest import deliver

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TABLET = (768, 1024)


@pytest.fixture
def preliminary(quick_pages, engagement, people_with_mail):
    """A measured engagement whose contract asks for both acceptances; the first one is open."""
    people = people_with_mail
    deliver(engagement, people)
    services.set_terms(actor=people[Role.MANAGER], engagement=engagement, has_preliminary=True,
                       trial_days=30, review_days=5)
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


def close_the_issue(hand: Hand, people, preliminary) -> None:
    condition = preliminary.review.conditions.get()
    services.report_condition(actor=people[Role.CONSULTANT], condition=condition,
                              report="手册已补充，见交付清单。")
    hand.go(f"/documents/{preliminary.pk}/review/")
    hand.click("form[action$='/close/'] button", leads_on=True)


def test_preliminary_then_trial_then_final(visit, preliminary, people_with_mail, capsys):
    people = people_with_mail
    hand = Hand(visit("reviewer", size=TABLET), "tablet")
    hand.go(f"/documents/{preliminary.pk}/review/")
    receive(hand)
    accept_with_a_condition(hand)
    sign(hand)
    preliminary.refresh_from_db()
    engagement, review = preliminary.engagement, Review.objects.get()
    assert (preliminary.state, engagement.state) == ("signed", "active")
    assert review.trial_ends_on == timezone.localdate() + timedelta(days=30)
    final = worded(people, draft(people, engagement, "FA"))
    with pytest.raises(WrongState, match=review.trial_ends_on.isoformat()):
        open_version(people, final)
    end_the_trial(review)
    manager = people[Role.MANAGER]
    with pytest.raises(WrongState, match="补充运维手册"):
        services.open_review(actor=manager, document=final)
    close_the_issue(hand, people, preliminary)
    with pytest.raises(WrongState, match="请起草新版本"):
        services.open_review(actor=manager, document=final)
    final = open_version(people, worded(people, reporting.draft_correction(
        actor=manager, document=final, reason="试运行已结束")))
    hand.go("/")
    hand.click(f"main a[href='/documents/{final.pk}/review/']", leads_on=True)
    receive(hand)
    hand.click("input[name=decision][value=accepted]")
    hand.click("form[action$='/decide/'] button.btn-primary", leads_on=True)
    sign(hand)
    final.refresh_from_db()
    assert (final.state, final.engagement.state) == ("signed", "accepted")
    with capsys.disabled():
        print(f"\ntablet, both acceptances: {hand.clicks} clicks, {hand.characters} characters, "
              f"{hand.pages} pages, {hand.minutes:.1f} minutes without reading")
    assert (hand.faults, hand.visitor.errors) == ([], [])
    assert not any(audit_log.findings())
    assert list(audit_log.row_differences()) == []
