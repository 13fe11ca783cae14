"""Phases, deadlines, outstanding issues, and acceptance by silence."""

from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone
from django.utils.translation import override

from delivery.acceptance import services
from delivery.acceptance.models import AcceptanceTerms, NoticeProof, Review
from delivery.notices.deadline_watch import announce_due
from delivery.notices.models import Event, Notice
from delivery.planning.services import control
from delivery.reports.facts.trial_run import outdated
from delivery.reports.models import Document
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.gates import evaluate
from engagements.models import AuditEntry, Engagement, Role, StageRecord
from tests.cached_fixtures import cached_fixture
from tests.delivery.review_steps import SOON

DUE = SOON
ISSUE = {"description": "PSR 未测", "owner": "周启明", "due_on": DUE, "model": "PSR"}
CLAUSE = "第 8.3 条"


def terms(engagement, act, **given):
    return services.set_terms(actor=act.manager, engagement=engagement, **given)


def state(engagement) -> str:
    return Engagement.objects.get(pk=engagement.pk).state


def gate(engagement, code):
    record = StageRecord.objects.get(model__engagement=engagement, model__code=code,
                                     stage="accept")
    return next(result for result in evaluate(record) if result.code == "document")


# Decisions per model --------------------------------------------------------------------

@pytest.mark.parametrize(("decision", "models"), [
    ("accepted", [("PSR", "rejected")]), ("accepted", [("PSR", "conditional")]),
    ("conditional", [("PSR", "rejected"), ("LLM", "rejected")]),
    ("rejected", [("PSR", "accepted"), ("LLM", "accepted")]),
    ("accepted", [("XYZ", "accepted")]), ("accepted", [("LLM", "perhaps")])])
def test_the_whole_is_no_better_than_its_models(review, act, decision, models):
    rows = [{"model": code, "decision": chosen, "reason": "未达标"} for code, chosen in models]
    conditions = [ISSUE] if decision == "conditional" else []
    with pytest.raises(InvalidInput):
        act.decide(review, decision, reason="x", models=rows, conditions=conditions)
    assert Review.objects.get(pk=review.pk).decision == ""


def test_one_rejected_model_does_not_pass_its_gate(review, act, delivered):
    act.decide(review, "conditional", conditions=[ISSUE],
               models=[{"model": "PSR", "decision": "rejected", "reason": "未测"},
                       {"model": "LLM", "decision": "accepted"}])
    act.sign(review)
    assert (gate(delivered, "LLM").is_met, gate(delivered, "PSR").is_met) == (True, False)


def test_a_rejected_model_needs_a_reason(review, act):
    with pytest.raises(InvalidInput):
        act.decide(review, "conditional", conditions=[ISSUE],
                   models=[{"model": "PSR", "decision": "rejected"}])


def test_a_rejection_names_the_day_of_the_repeated_inspection(review, act):
    act.decide(review, "rejected", reason="PSR 未测", retest_on=DUE)
    entry = AuditEntry.objects.get(action="review.decide").data
    assert (entry["retest_on"], entry["models"]["LLM"]["decision"]) == (f"{DUE}", "rejected")


# Outstanding issues ----------------------------------------------------------------------

def test_the_team_reports_and_the_customer_confirms(review, act, people):
    act.decide(review, "conditional", conditions=[ISSUE])
    condition = review.conditions.get()
    assert (condition.effect, condition.model.code) == ("blocks", "PSR")
    with pytest.raises(WrongState):
        services.close_condition(actor=act.reviewer, condition=condition)
    with pytest.raises(NotAllowed):
        services.report_condition(actor=people[Role.SALES], condition=condition, report="done")
    services.report_condition(actor=people[Role.CONSULTANT], condition=condition, report="补测")
    with pytest.raises(NotAllowed):
        services.close_condition(actor=act.manager, condition=condition)
    closed = services.close_condition(actor=act.reviewer, condition=condition)
    assert (closed.report, closed.closed_by) == ("补测", act.reviewer)
    with pytest.raises(WrongState):
        services.report_condition(actor=act.manager, condition=condition, report="again")
    assert Notice.objects.filter(recipient=act.reviewer,
                                 event__kind="issue_reported").count() == 1


# Preliminary and final ---------------------------------------------------------------------

@pytest.fixture
@cached_fixture
def phased(delivered, act):
    """A contract with preliminary acceptance and ten days of trial."""
    terms(delivered, act, has_preliminary=True, trial_days=10)
    return delivered


@pytest.mark.slow
def test_the_preliminary_acceptance_begins_the_trial_period(phased, act):
    first = act.open(phased, "PA")
    act.decide(first, "conditional", conditions=[ISSUE])
    act.sign(first)
    first.refresh_from_db()
    assert (first.phase, state(phased)) == ("preliminary", "active")
    assert first.trial_ends_on == timezone.localdate() + timedelta(days=10)


@pytest.mark.slow
def test_the_final_acceptance_waits_for_trial_and_blocking_issues(phased, act, client):
    with pytest.raises(WrongState):
        act.open(phased, "FA")
    first = act.open(phased, "PA")
    act.decide(first, "conditional", conditions=[
        ISSUE, {**ISSUE, "description": "手册措辞", "effect": "none"}])
    act.sign(first)
    final = Document.objects.get(kind="FA")
    first.refresh_from_db()
    with pytest.raises(WrongState, match=first.trial_ends_on.isoformat()):
        services.open_review(actor=act.manager, document=final)
    Review.objects.filter(pk=first.pk).update(trial_ends_on=timezone.localdate())
    with pytest.raises(WrongState, match="PSR 未测"):
        services.open_review(actor=act.manager, document=final)
    blocking = first.conditions.get(effect="blocks")
    services.report_condition(actor=act.manager, condition=blocking, report="补测")
    services.close_condition(actor=act.reviewer, condition=blocking)
    with pytest.raises(WrongState) as stale:  # issued before the provisional acceptance
        services.open_review(actor=act.manager, document=final)
    assert stale.value.details["cures"] == [f"/documents/{final.pk}/#correct"]
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(act.manager)
    page = client.get(f"/documents/{final.pk}/").content.decode()
    assert "it would be signed with an old state" in page
    assert 'href="#correct"' in page
    assert "Open the customer" not in page

    corrected = act.correct(final, {"fa_trial": {"zh": "连续运行", "en": "It ran"}})
    Review.objects.filter(pk=first.pk).update(
        trial_ends_on=timezone.localdate() + timedelta(days=1))
    assert "before the trial period ended" in outdated(corrected)
    Review.objects.filter(pk=first.pk).update(trial_ends_on=timezone.localdate())
    last = services.open_review(actor=act.manager, document=corrected)
    act.decide(last)
    act.sign(last)
    assert (last.phase, state(phased)) == ("final", "accepted")


@pytest.mark.slow
def test_a_rejected_preliminary_acceptance_begins_no_trial(phased, act):
    first = act.open(phased, "PA")
    act.decide(first, "rejected", reason="未达标")
    act.sign(first)
    first.refresh_from_db()
    assert first.trial_ends_on is None
    with pytest.raises(WrongState):
        act.open(phased, "FA")


# Deadlines and silence ----------------------------------------------------------------------

@pytest.fixture
@cached_fixture
def silent(delivered, act):
    """A contract by which silence for five days counts, and a review opened a week ago."""
    terms(delivered, act, review_days=5, is_deemed=True, clause=CLAUSE)
    review = act.open(delivered)
    week_ago = timezone.now() - timedelta(days=7)
    Review.objects.filter(pk=review.pk).update(opened_at=week_ago)
    return Review.objects.get(pk=review.pk)


def prove(review, act, days_ago=6, **given):
    return services.record_notice(**{
        "actor": act.manager, "review": review, "channel": "courier", "addressee": "陈国栋",
        "reference": "SF1234567890",
        "delivered_on": timezone.localdate() - timedelta(days=days_ago), **given})


@pytest.mark.slow
def test_the_review_has_the_contracts_deadline_and_both_sides_are_reminded(delivered, act):
    terms(delivered, act, review_days=2)
    review = act.open(delivered)
    assert review.due_on == timezone.localdate() + timedelta(days=2)
    for days in (0, 0, 1, 2, 3):
        announce_due(timezone.now() + timedelta(days=days))
    events = Event.objects.filter(kind="review_due")
    assert events.count() == 2  # near, and on the last day
    assert set(Notice.objects.filter(event__in=events).values_list("recipient__username", flat=True)
               ) == {"administrator", "manager", "reviewer"}


@pytest.mark.slow
def test_without_the_contract_silence_means_nothing(delivered, act):
    terms(delivered, act, review_days=5)
    review = act.open(delivered)
    Review.objects.filter(pk=review.pk).update(opened_at=timezone.now() - timedelta(days=30))
    review.refresh_from_db()
    prove(review, act, 20)
    with pytest.raises(WrongState):
        services.record_deemed_acceptance(actor=act.manager, review=review)
    with pytest.raises(WrongState):  # too late for this one
        terms(delivered, act, review_days=5, is_deemed=True, clause=CLAUSE)
    with pytest.raises(WrongState):
        services.record_deemed_acceptance(actor=act.manager, review=review)


def test_silence_needs_clause_and_period(delivered, act):
    for given in ({"is_deemed": True}, {"is_deemed": True, "clause": CLAUSE},
                  {"is_deemed": True, "review_days": 5}, {"review_days": 99999}):
        with pytest.raises(InvalidInput):
            terms(delivered, act, **given)
    with pytest.raises(IntegrityError, match="deemed_acceptance_names_clause_and_period"):
        AcceptanceTerms.objects.create(engagement=delivered, is_deemed=True)


def test_silence_does_not_count_over_an_open_blocker(silent, act):
    prove(silent, act)
    control.add_issue(actor=act.manager, engagement=silent.engagement, description="推理偶发中断",
                      level="blocking", raised_on=timezone.localdate(),
                      due_on=timezone.localdate(), owner=act.manager)
    with override("en"), pytest.raises(InvalidInput, match="hold up the final acceptance"):
        services.record_deemed_acceptance(actor=act.manager, review=silent)
    assert Review.objects.get(pk=silent.pk).decision != "deemed"


@pytest.mark.slow
def test_silence_counts_after_proven_notice_and_the_whole_period(silent, act):
    with pytest.raises(WrongState):
        services.record_deemed_acceptance(actor=act.manager, review=silent)  # no proof
    prove(silent, act, days_ago=5)
    with pytest.raises(WrongState):
        services.record_deemed_acceptance(actor=act.manager, review=silent)  # last day
    NoticeProof.objects.update(delivered_on=timezone.localdate() - timedelta(days=6))
    with pytest.raises(NotAllowed):
        services.record_deemed_acceptance(actor=act.reviewer, review=silent)
    services.record_deemed_acceptance(actor=act.manager, review=silent)
    assert services.complete_signed_copies() == 2
    silent.refresh_from_db()
    engagement = silent.document.engagement
    assert (silent.decision, silent.reason) == ("deemed", CLAUSE)
    assert silent.document.state == "issued"  # nobody signed
    assert (state(engagement), gate(engagement, "LLM").is_met) == ("accepted", True)
    assert silent.document.files.filter(format="deemed").count() == 2
    entry = AuditEntry.objects.get(action="review.decide").data
    assert (entry["clause"], entry["proofs"]) == (CLAUSE, ["SF1234567890"])
    assert Notice.objects.filter(recipient=act.reviewer,
                                 event__kind="acceptance_decided").count() == 1
    with pytest.raises(WrongState):
        act.begin(silent)


def test_a_customer_who_answered_was_not_silent(silent, act):
    prove(silent, act)
    services.comment(actor=act.reviewer, review=silent, text="PSR？")
    with pytest.raises(WrongState):
        services.record_deemed_acceptance(actor=act.manager, review=silent)


def test_a_notice_lies_between_the_opening_and_today(silent, act):
    for days in (8, -1):
        with pytest.raises(InvalidInput):
            prove(silent, act, days)
    with pytest.raises(InvalidInput):
        prove(silent, act, reference=" ")
    with pytest.raises(NotAllowed):
        prove(silent, act, actor=act.reviewer)


@pytest.mark.slow
def test_the_pages_of_the_contract(silent, act, client, people):
    code = silent.document.engagement.code
    client.force_login(people[Role.CONSULTANT])
    assert client.get(f"/engagements/{code}/acceptance-terms/").status_code == 403
    client.force_login(act.manager)
    page = f"/engagements/{code}/acceptance-terms/"
    assert client.post(page, {"is_deemed": "on", "trial_days": 0}).status_code == 400
    changed = client.post(page, {"trial_days": 30, "review_days": 7})
    assert (changed.status_code, str(silent.document) in changed.content.decode()) == (400, True)
    url = f"/documents/{silent.document_id}/review/"
    assert CLAUSE in client.get(url).content.decode()
    answer = client.post(url + "notice/", {
        "channel": "courier", "addressee": "陈国栋", "reference": "SF1",
        "delivered_on": (timezone.localdate() - timedelta(days=6)).isoformat()})
    assert answer.status_code == 302
    client.post(url + "deemed/")
    assert Review.objects.get(pk=silent.pk).decision == "deemed"
