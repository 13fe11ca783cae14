"""Acceptance from its beginning to its end, in the ways it goes in practice."""

from datetime import date, timedelta

import pytest
from django.utils import timezone

from delivery.acceptance import services
from delivery.acceptance.certificates import after_months, warranty_period
from delivery.acceptance.models import Condition, NoticeProof, Review
from delivery.acceptance.review.retest_comparison import compare_with_current
from delivery.planning.plan.trigger_documents import trigger_documents
from delivery.planning.services import control
from delivery.reports.models import Document
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Engagement, MigratedModel, Role, StageRecord
from tests.delivery.conftest import measure
from tests.delivery.review_steps import SOON
from workers.models import Job

ISSUE = {"description": "补充运维手册", "owner": "周启明", "due_on": SOON, "model": "PSR"}
TOLD = {"fa_trial": {"zh": "连续运行，发生一次故障，已修复", "en": "One incident, repaired"}}


def stands(review) -> tuple:
    """State of the engagement, of the acceptance stages, and certificates that release payments."""
    engagement = Engagement.objects.get(pk=review.document.engagement_id)
    stages = StageRecord.objects.filter(model__engagement=engagement, stage="accept")
    return (engagement.state, dict(stages.values_list("model__code", "state")),
            sorted(trigger_documents(engagement.memberships.first().user, engagement)))


def pass_other_stages(engagement) -> None:
    """Everything before acceptance is passed, its own checklist ticked."""
    rows = StageRecord.objects.filter(model__engagement=engagement)
    rows.exclude(stage="accept").update(state="passed", passed_at=timezone.now())
    for record in rows.filter(stage="accept"):
        record.checklist.update(done_at=timezone.now(), evidence="清单")


def close(condition, act) -> None:
    services.report_condition(actor=act.manager, condition=condition, report="已补充")
    services.close_condition(actor=act.reviewer, condition=condition)


def end_trial(review) -> None:
    Review.objects.filter(pk=review.pk).update(trial_ends_on=timezone.localdate())


def final(act, engagement, people) -> Review:
    """The final certificate, told the trial run, before the customer."""
    from delivery.reports import services as reporting
    from tests.document_steps import issued_document

    draft = reporting.draft_acceptance(actor=act.manager, engagement=engagement)
    draft = reporting.write_words(actor=act.manager, document=draft, words=TOLD)
    return services.open_review(actor=act.manager, document=issued_document(draft, people))


@pytest.mark.slow
def test_from_provisional_acceptance_over_a_trial_with_an_incident_to_the_final_one(
        delivered, people, act):
    services.set_terms(actor=act.manager, engagement=delivered, has_preliminary=True,
                       trial_days=10)
    measure(delivered, people, MigratedModel.objects.get(code="PSR"))
    pass_other_stages(delivered)
    first = act.open(delivered, "PA")
    assert stands(first)[2] == []  # issued is not accepted
    act.decide(first, "conditional", conditions=[ISSUE])
    assert stands(first)[2] == []  # decided is not signed
    act.sign(first)
    assert stands(first)[2] == []  # a condition that holds up the payment is open
    today = timezone.localdate()
    control.add_issue(actor=act.manager, engagement=delivered, description="试运行故障",
                      level="minor", raised_on=today, due_on=today, owner=people[Role.CONSULTANT])
    close(Condition.objects.get(), act)
    assert stands(first)[2] == ["preliminary"]
    end_trial(first)
    last = final(act, delivered, people)
    assert "试运行故障" in str(last.document.snapshot["tables"]["issues"]["rows"])
    act.decide(last)
    act.sign(last)
    assert stands(last) == ("accepted", {"LLM": "passed", "PSR": "passed"}, ["FA", "preliminary"])


@pytest.mark.slow
def test_from_a_rejection_over_the_repeated_test_to_acceptance(delivered, people, act):
    pass_other_stages(delivered)
    first = act.open(delivered)
    act.decide(first, "rejected", reason="PSR 未测", models=[
        {"model": "PSR", "decision": "rejected", "reason": "未测"},
        {"model": "LLM", "decision": "accepted"}])
    act.sign(first)
    assert stands(first) == ("active", {"LLM": "passed", "PSR": "sent_back"}, [])
    measure(delivered, people, MigratedModel.objects.get(code="PSR"))
    rows = {row["model"]: row for row in compare_with_current(first, "en")}
    assert rows["PSR"]["is_changed"]
    second = services.open_review(actor=act.manager, document=act.correct(
        Document.objects.get(pk=first.document_id), {}))
    act.decide(second)
    act.sign(second)
    assert stands(second) == ("accepted", {"LLM": "passed", "PSR": "passed"}, ["FA"])


def test_from_silence_to_deemed_acceptance(delivered, people, act):
    measure(delivered, people, MigratedModel.objects.get(code="PSR"))
    services.set_terms(actor=act.manager, engagement=delivered, review_days=5, is_deemed=True,
                       clause="第 8.3 条")
    pass_other_stages(delivered)
    review = act.open(delivered)
    services.record_notice(actor=act.manager, review=review, channel="courier",
                           addressee="陈国栋", reference="SF1", delivered_on=timezone.localdate())
    NoticeProof.objects.update(delivered_on=timezone.localdate() - timedelta(days=6))
    services.record_deemed_acceptance(actor=act.manager, review=review)
    assert stands(review) == ("accepted", {"LLM": "passed", "PSR": "passed"}, ["FA"])


def test_nothing_passes_unconditionally_while_a_deliverable_is_owed(delivered, people, act):
    from delivery.reports import services as reporting

    reporting.add_deliverable(actor=act.manager, engagement=delivered, title="手册")
    review = act.open(delivered)
    with pytest.raises(InvalidInput, match="手册"):
        act.decide(review)
    assert act.decide(review, "conditional", conditions=[ISSUE]).decision == "conditional"


def test_from_the_final_acceptance_over_a_claim_to_a_regression_run(delivered, people, act):
    services.set_terms(actor=act.manager, engagement=delivered, warranty_months=12)
    today, llm = timezone.localdate(), MigratedModel.objects.get(code="LLM")
    claim = {"actor": act.reviewer, "engagement": delivered, "model": llm, "found_on": today,
             "description": "推理结果偶发为空"}
    review = act.open(delivered)
    with pytest.raises(WrongState):
        services.raise_claim(**claim)
    act.decide(review)
    act.sign(review)
    first, last = warranty_period(Review.objects.get(pk=review.pk))
    assert (first, last) == (today, after_months(today, 12) - timedelta(days=1))
    with pytest.raises(InvalidInput):
        services.raise_claim(**{**claim, "found_on": today + timedelta(days=1)})
    made = services.raise_claim(**claim)
    assert made.is_covered
    old = Job.objects.filter(model=llm, state="succeeded").first()
    repair = {"actor": people[Role.CONSULTANT], "claim": made, "report": "修正解码参数"}
    with pytest.raises(InvalidInput):
        services.report_repair(**repair, regression=old)
    with pytest.raises(WrongState):
        services.close_claim(actor=act.reviewer, claim=made)
    run = Job.objects.create(kind=old.kind, engagement=delivered, model=llm, state="succeeded",
                             finished_at=timezone.now())
    services.report_repair(**repair, regression=run)
    with pytest.raises(NotAllowed):
        services.close_claim(actor=act.manager, claim=made)
    closed = services.close_claim(actor=act.reviewer, claim=made)
    assert (closed.regression, closed.closed_by) == (run, act.reviewer)
    assert [row.action for row in AuditEntry.objects.filter(action__startswith="warranty.")
            .order_by("pk")] == ["warranty.claim", "warranty.repair", "warranty.close"]


@pytest.mark.parametrize(("day", "months", "end"), [
    (date(2025, 1, 31), 1, date(2025, 2, 28)), (date(2025, 11, 30), 3, date(2026, 2, 28)),
    (date(2025, 12, 15), 12, date(2026, 12, 15))])
def test_months_end_on_the_last_day_of_a_shorter_one(day, months, end):
    assert after_months(day, months) == end
