"""A refusal of a review is told in whatever step the page is by then."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.acceptance import services
from delivery.acceptance.models import Identification
from tests.cached_fixtures import cached_fixture
from tests.refused_forms import SENT, refuse_every_form, untold

ROW = {"models-0-model": "PSR", "models-0-decision": "soon", "conditions-0-owner": "周启明"}
COUNTS = {f"{prefix}-{count}": at for prefix in ("models", "conditions")
          for count, at in (("TOTAL_FORMS", 1), ("INITIAL_FORMS", 0))}
FORMS = {"comment": {}, "receipt": {}, "decide": {**COUNTS, **ROW}, "identify": {}, "sign": {},
         "decline": {}, "delegate": {}, "signers": {}, "notice": {}}
OF_THE_TEAM = {"signers", "notice"}


def steps(act):
    """What leads a review to each of its states."""
    return {"open": [], "decided": [act.decide], "code sent": [act.decide, act.begin],
            "signed": [act.decide, act.sign],
            "replaced": [act.decide, lambda review: act.correct(review.document, {})]}


@pytest.fixture
@cached_fixture
def review(act, delivered):
    """Of a contract by which silence may count."""
    services.set_terms(actor=act.manager, engagement=delivered, review_days=5, is_deemed=True,
                       clause="第 8.3 条")
    return act.open(delivered)


@pytest.mark.slow
@pytest.mark.parametrize("state", ["open", "decided", "code sent", "signed", "replaced"])
def test_a_refused_form_says_why_in_every_state(review, act, client, monkeypatch, state):
    for step in steps(act)[state]:
        step(review)
    refused, wrong = refuse_every_form(monkeypatch), {}
    for name, given in FORMS.items():
        client.force_login(act.manager if name in OF_THE_TEAM else act.reviewer)
        refused.clear()
        answer = client.post(f"/documents/{review.document_id}/review/{name}/", {**SENT, **given})
        assert (name, answer.status_code, bool(refused)) == (name, 400, True)
        wrong[name] = untold(answer, refused)
    assert {name: errors for name, errors in wrong.items() if errors} == {}


def expire(review, _act):
    Identification.objects.filter(review=review).update(
        expires_at=timezone.now() - timedelta(seconds=1))


def type_four_wrong_codes(review, _act):
    Identification.objects.filter(review=review).update(attempts=4)


def correct_the_decision(review, act):
    act.decide(review, "rejected", reason="未测")


@pytest.mark.parametrize(("happens", "language", "sentence"), [
    (expire, "en", "No valid code; request a new one."),
    (expire, "zh-hans", "没有有效的验证码，请重新申请。"),
    (type_four_wrong_codes, "en", "Wrong code, and it is no longer valid; request a new one."),
    (correct_the_decision, "en", "No valid code; request a new one."),
])
def test_a_code_that_no_longer_signs_is_told_with_the_first_step(
        review, act, client, happens, language, sentence):
    act.decide(review)
    act.begin(review)
    happens(review, act)
    client.force_login(act.reviewer)
    answer = client.post(f"/documents/{review.document_id}/review/sign/", {
        "code": "x", "mark": "typed", "confirmed": "on"}, HTTP_ACCEPT_LANGUAGE=language)
    assert (answer.status_code, answer.context["identification"]) == (400, None)
    assert sentence in answer.content.decode()


def test_a_row_in_which_nothing_is_written_is_no_issue(review, act, client):
    """The page folds such rows away: what is wrong with them would be told to nobody."""
    client.force_login(act.reviewer)
    client.post(f"/documents/{review.document_id}/review/decide/", {
        **COUNTS, "models-0-model": "PSR", "conditions-0-model": "PSR",
        "conditions-0-effect": "none", "decision": "accepted"})
    review.refresh_from_db()
    assert (review.decision, review.conditions.count()) == ("accepted", 0)


@pytest.mark.slow
def test_a_correction_that_came_too_late_is_told(review, act, client):
    act.decide(review)
    act.sign(review)
    client.force_login(act.reviewer)
    answer = client.post(f"/documents/{review.document_id}/review/decide/", {
        **COUNTS, "models-0-model": "PSR", "decision": "accepted"}, HTTP_ACCEPT_LANGUAGE="en")
    assert "This document has been signed or replaced; nothing can be added to it." in (
        answer.content.decode())
