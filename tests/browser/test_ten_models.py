"""A busy reviewer with ten models: eight pass, one with a condition, one is measured again.

Prints clicks, fields, pages and minutes of both rounds. Minutes without reading by the
keystroke-level model of `tests/browser/test_review.py`; with reading 2 s for each page to appear,
5 s for each figure, 20 s for each page of details, 60 s for terms and code. The paper itself is not
read again.
"""

import pytest

from delivery.acceptance import services
from delivery.reports import services as reporting
from engagements.models import Role
from tests.browser.ten_models import DOUBTFUL, FAILING, MODELS, deliver_ten, measure_again
from tests.browser.test_review import SIZES, Hand, open_version, receive, sign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LANGUAGES = {"phone": "zh-CN", "desk": "en-US"}
REASON = "平均相对误差 3.0 %，超过 2 %，请排查后复测。"
LOAD, FIGURE, DETAIL, TERMS = 2, 5, 20, 60  # seconds


@pytest.fixture
def ten(quick_pages, engagement, people_with_mail):
    """Ten measured models; after the provisional acceptance follow thirty days of trial."""
    people = people_with_mail
    deliver_ten(engagement, people)
    services.set_terms(actor=people[Role.MANAGER], engagement=engagement, has_preliminary=True,
                       trial_days=30, review_days=5)
    return open_version(people, reporting.draft_document(
        actor=people[Role.MANAGER], engagement=engagement, kind="PA"))


def open_review(hand: Hand, document) -> None:
    hand.go("/")
    hand.click(f"main a[href='/documents/{document.pk}/review/']", leads_on=True)


def look_at_every_figure(hand: Hand) -> None:
    """What does not pass stands open: its definition, curve, raw file and run; then the others."""
    assert hand.page.locator("details.desk-model[open]").count() == 1
    assert hand.page.locator("details.desk-model").first.get_attribute("id") == f"model-{FAILING}"
    for link in ("/criteria/", "/artifacts/", "/jobs/"):
        hand.click(f"#model-{FAILING} a[href*='{link}']", leads_on=True)
        hand.page.go_back()
    for code, *_names in MODELS:
        if code != FAILING:
            hand.click(f"#model-{code} > summary")


def mark(hand: Hand, code: str, decision: str) -> None:
    hand.click(f"[data-desk-model={code}] .btn.is-{decision}")


def decide_first_round(hand: Hand) -> None:
    """One click passes the eight; two exceptions; the whole follows from them."""
    mark(hand, FAILING, "rejected")
    hand.type(f"[data-desk-model={FAILING}] [data-desk-reason]", REASON)
    mark(hand, DOUBTFUL, "conditional")
    hand.type("#id_conditions-0-description", "补充运维手册")
    hand.type("#id_conditions-0-owner", "周启明")
    hand.type("#id_conditions-0-due_on", "2027-01-31")
    hand.click("[data-desk-pass-all]")
    assert hand.page.locator("#id_conditions-0-model").input_value() == DOUBTFUL
    assert hand.page.locator("input[name=decision]:checked").input_value() == "rejected"
    hand.type("#id_retest_on", "2027-01-31")
    hand.click("form[action$='/decide/'] button.btn-primary", leads_on=True)


def compare_and_accept(hand: Hand, document) -> None:
    """The new run beside the old one; nine earlier decisions are offered again."""
    open_review(hand, document)
    hand.click("a[href$='/retest/']", leads_on=True)
    assert hand.page.locator(f"h2:has-text('{FAILING}')").count() == 2
    hand.page.go_back()
    receive(hand)
    offered = hand.page.locator("[data-desk-model] input:checked").count()
    assert offered == len(MODELS) - 1
    mark(hand, FAILING, "accepted")
    assert hand.page.locator("input[name=decision]:checked").input_value() == "conditional"
    hand.click("form[action$='/decide/'] button.btn-primary", leads_on=True)


def with_reading(hand: Hand, figures: int, details: int) -> float:
    seconds = hand.pages * LOAD + figures * FIGURE + details * DETAIL + TERMS
    return hand.minutes + seconds / 60


@pytest.mark.parametrize("size", SIZES)
def test_ten_models_in_two_rounds(visit, ten, people, size, capsys):
    hand = Hand(visit("reviewer", size=SIZES[size], language=LANGUAGES[size]), f"ten-{size}")
    open_review(hand, ten)
    look_at_every_figure(hand)
    receive(hand)
    decide_first_round(hand)
    assert decisions(ten) == {FAILING: "rejected", DOUBTFUL: "conditional"}
    first = hand.clicks, hand.pages
    model = ten.engagement.models.get(code=FAILING)
    measure_again(ten.engagement, people, model, scale=1.003)
    second = open_version(people, reporting.draft_correction(
        actor=people[Role.MANAGER], document=ten, reason="ASR 复测"))
    compare_and_accept(hand, second)
    sign(hand)
    second.refresh_from_db()
    assert decisions(second) == {DOUBTFUL: "conditional"}
    assert second.review.conditions.get().model.code == DOUBTFUL
    assert (second.state, second.review.trial_ends_on is not None) == ("signed", True)
    with capsys.disabled():
        print(f"\nten models, {size}: {hand.clicks} clicks ({first[0]} until the first decision), "
              f"{hand.fields} fields, {hand.characters} characters, {hand.pages} pages; "
              f"{hand.minutes:.1f} minutes without reading, "
              f"{with_reading(hand, figures=2 * len(MODELS) + 4, details=4):.0f} with")
    assert (hand.faults, hand.visitor.errors) == ([], [])
    assert hand.clicks <= 45


def decisions(document) -> dict[str, str]:
    """The models that did not simply pass."""
    rows = document.review.model_decisions.exclude(decision="accepted")
    return dict(rows.values_list("model__code", "decision"))
