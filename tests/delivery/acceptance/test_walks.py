"""Acceptance from its beginning to its end, in the ways it goes in practice."""

import io
import zipfile
from datetime import date, timedelta

import pytest
from django.db.models import F
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from assessments import services as assessing
from assessments.definitions.threshold_units import ThresholdUnit
from delivery.acceptance import services
from delivery.acceptance.certificates import (
    after_months,
    certificate_in_force,
    warranty_period,
)
from delivery.acceptance.models import (
    BlockerWaiver,
    Condition,
    Identification,
    NoticeProof,
    Review,
)
from delivery.acceptance.review.retest_comparison import compare_with_current
from delivery.acceptance.services.blocker_waivers import blockers_of
from delivery.acceptance.signing.signature_page import signed_facts
from delivery.next_steps.inbox import inbox_items
from delivery.notices import deadline_watch
from delivery.notices.models import Event
from delivery.planning.plan.trigger_documents import trigger_documents
from delivery.planning.services import control
from delivery.reports import services as reporting
from delivery.reports.facts.open_points import open_points
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks.checks import facts_current
from delivery.reports.issue_checks.verdict_checks import criteria_signed, no_severe_issue
from delivery.reports.models import Document
from delivery.reports.office.word_document import document_docx
from delivery.reports.rendering import TEMPLATE, context_of
from delivery.reports.services import withdraw_document
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Engagement, MigratedModel, Role, StageRecord
from tests.delivery.conftest import measure, sign_for_both
from tests.delivery.review_steps import SOON
from workers.models import Job

ISSUE = {"description": "补充运维手册", "owner": "周启明", "due_on": SOON, "model": "PSR"}
TOLD = {"fa_trial": {"zh": "连续运行，发生一次故障，已修复", "en": "One incident, repaired"}}


def stands(review) -> tuple:
    """State of the engagement, of the acceptance stages, and certificates that release payments."""
    engagement = Engagement.objects.get(pk=review.document.engagement_id)
    stages = StageRecord.objects.filter(model__engagement=engagement, stage="accept")
    return (engagement.state, dict(stages.values_list("model__code", "state")),
            sorted({*trigger_documents([engagement.pk])[engagement.pk]} & {"preliminary", "FA"}))


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


@pytest.mark.slow
def test_from_silence_to_deemed_acceptance(delivered, people, act):
    measure(delivered, people, MigratedModel.objects.get(code="PSR"))
    services.set_terms(actor=act.manager, engagement=delivered, review_days=5, is_deemed=True,
                       clause="第 8.3 条")
    pass_other_stages(delivered)
    review = act.open(delivered)
    services.record_notice(actor=act.manager, review=review, channel="courier",
                           addressee="陈国栋", reference="SF1", delivered_on=timezone.localdate())
    NoticeProof.objects.update(delivered_on=timezone.localdate() - timedelta(days=6))
    question = services.comment(actor=act.reviewer, review=review, text="第 3 章何处可见日志？")
    with override("en"), pytest.raises(WrongState, match="resolved the comments"):
        services.record_deemed_acceptance(actor=act.manager, review=review)
    services.resolve_comment(actor=act.reviewer, comment=question)  # the way out that it names
    services.record_deemed_acceptance(actor=act.manager, review=review)
    assert stands(review) == ("accepted", {"LLM": "passed", "PSR": "passed"}, ["FA"])


@pytest.mark.slow
def test_nothing_passes_unconditionally_while_a_deliverable_is_owed(delivered, people, act):
    from delivery.reports import services as reporting

    reporting.add_deliverable(actor=act.manager, engagement=delivered, title="手册")
    review = act.open(delivered)
    with pytest.raises(InvalidInput, match="手册"):
        act.decide(review)
    assert act.decide(review, "conditional", conditions=[ISSUE]).decision == "conditional"


@pytest.mark.slow
def test_nothing_passes_unconditionally_over_an_issue_that_holds_it_up(delivered, people, act):
    today = timezone.localdate()
    issue = control.add_issue(actor=act.manager, engagement=delivered, description="推理偶发中断",
                              level="blocking", raised_on=today, due_on=today, owner=act.manager)
    review = act.open(delivered)
    with pytest.raises(InvalidInput, match="推理偶发中断"):
        act.decide(review)
    assert act.decide(review, "conditional", conditions=[ISSUE]).decision == "conditional"
    control.update_issue(actor=act.manager, issue=issue, closed_on=today)
    assert act.decide(review).decision == "accepted"


def test_terms_are_not_changed_behind_a_review_that_is_open(review, delivered, act):
    for given in ({"warranty_months": 12}, {"has_preliminary": True}):
        with override("en"), pytest.raises(WrongState, match="withdraw it, save the terms"):
            services.set_terms(actor=act.manager, engagement=delivered, **given)
    withdraw_document(actor=act.manager, document=review.document, reason="条款有误")
    assert services.set_terms(actor=act.manager, engagement=delivered,
                              warranty_months=12).warranty_months == 12


@pytest.mark.slow
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
    assert waiting(act.manager) == ["claim"]
    old = Job.objects.filter(model=llm, state="succeeded").first()
    repair = {"actor": people[Role.CONSULTANT], "claim": made, "report": "修正解码参数"}
    with pytest.raises(InvalidInput):
        services.report_repair(**repair, regression=old)
    with pytest.raises(WrongState):
        services.close_claim(actor=act.reviewer, claim=made)
    run = Job.objects.create(kind=old.kind, engagement=delivered, model=llm, state="succeeded",
                             finished_at=timezone.now())
    services.report_repair(**repair, regression=run)
    assert (waiting(act.manager), waiting(act.reviewer)) == ([], ["claim"])
    with pytest.raises(NotAllowed):
        services.close_claim(actor=act.manager, claim=made)
    closed = services.close_claim(actor=act.reviewer, claim=made)
    assert (closed.regression, closed.closed_by) == (run, act.reviewer)
    assert [row.action for row in AuditEntry.objects.filter(action__startswith="warranty.")
            .order_by("pk")] == ["warranty.claim", "warranty.repair", "warranty.close"]
    assert waiting(act.reviewer) == []
    assert list(Event.objects.filter(kind__startswith="claim_").order_by("pk").values_list(
        "kind", flat=True)) == ["claim_raised", "claim_repaired", "claim_closed"]


def waiting(user) -> list[str]:
    """What of claims and refusals the person's inbox holds."""
    return [item.kind for item in inbox_items(user) if item.kind in ("claim", "review_refused")]


@pytest.mark.slow
def test_a_signed_rejection_waits_for_the_firm_until_the_next_version(review, act):
    act.decide(review, "rejected", reason="PSR 未测")
    act.sign(review)
    assert waiting(act.manager) == ["review_refused"]
    deadline_watch.announce_due(timezone.now() + timedelta(days=365))
    assert not Event.objects.filter(kind="retest_due").exists()
    day = Review.objects.get(pk=review.pk).retest_on
    for _look in range(2):
        deadline_watch.announce_due(timezone.now() + (day - timezone.localdate()))
    assert Event.objects.get(kind="retest_due").day == day
    act.correct(Document.objects.get(pk=review.document_id), {})
    assert waiting(act.manager) == []


@pytest.mark.parametrize(("day", "months", "end"), [
    (date(2025, 1, 31), 1, date(2025, 2, 28)), (date(2025, 11, 30), 3, date(2026, 2, 28)),
    (date(2025, 12, 15), 12, date(2026, 12, 15))])
def test_months_end_on_the_last_day_of_a_shorter_one(day, months, end):
    assert after_months(day, months) == end


@pytest.mark.slow
def test_a_signed_waiver_lets_pass_what_it_names_and_nothing_else(delivered, act, api):
    """From the refusal to the way out that it names; the signature page names the waiver."""
    today, api = timezone.localdate(), api(Role.MANAGER)
    reporting.add_deliverable(actor=act.manager, engagement=delivered, title="手册")
    control.add_issue(actor=act.manager, engagement=delivered, description="推理偶发中断",
                      level="blocking", raised_on=today, due_on=today, owner=act.manager)
    review = act.open(delivered)
    [issue, manual] = [row["code"] for row in blockers_of(delivered)]
    waivers = "/api/v1/acceptance-waivers/"
    made = api.post(waivers, {"engagement": "EP2501", "reason": "客户先行上线", "checks": [issue]},
                    format="json")
    assert made.status_code == 201, made.content
    first = BlockerWaiver.objects.get()
    assert "waiver" in {item.kind for item in inbox_items(act.reviewer)}
    with pytest.raises(NotAllowed):
        services.sign_blocker_waiver(actor=act.manager, waiver=first)
    with pytest.raises(InvalidInput, match="手册"):  # drafted only, and of one of two
        act.decide(review)
    services.sign_blocker_waiver(actor=act.reviewer, waiver=first)
    with pytest.raises(InvalidInput, match="手册"):
        act.decide(review)
    with override("en"), pytest.raises(InvalidInput, match="does not hold up"):
        services.draft_blocker_waiver(actor=act.manager, engagement=delivered, reason="x",
                                      checks=["issue-0"])
    second = services.draft_blocker_waiver(actor=act.manager, engagement=delivered,
                                           reason="手册下月交", checks=[manual])
    services.sign_blocker_waiver(actor=act.reviewer, waiver=second)
    assert act.decide(review).decision == "accepted"
    code = act.begin(review)
    services.revoke_blocker_waiver(actor=act.manager, waiver=second)
    with pytest.raises(InvalidInput, match="手册"):
        act.sign(review, code=code)  # nor is it signed once the waiver is gone
    again = services.draft_blocker_waiver(actor=act.manager, engagement=delivered,
                                          reason="手册下月交", checks=[manual])
    services.sign_blocker_waiver(actor=act.reviewer, waiver=again)
    act.decide(review)
    Identification.objects.update(sent_at=F("sent_at") - timedelta(minutes=2))
    act.sign(review)
    assert {row["number"]: row["blockers"] for row in signed_facts(review)["waivers"]} == {
        str(first): [first.checks[0]["sentence"]], str(again): [again.checks[0]["sentence"]]}
    delivered.refresh_from_db()
    assert delivered.state == "accepted"


@pytest.mark.slow
def test_a_certificate_after_the_waiver_prints_it_and_calls_nothing_of_it_open(delivered, act):
    """Its issue is not refused for what is waived; PDF and Word file tell the waiver in the
    conclusion and among what departed, not among the open points."""
    today = timezone.localdate()
    reporting.add_deliverable(actor=act.manager, engagement=delivered, title="手册")
    control.add_issue(actor=act.manager, engagement=delivered, description="推理偶发中断",
                      level="minor", affects_final=True, raised_on=today, due_on=today,
                      owner=act.manager)
    draft = reporting.draft_acceptance(actor=act.manager, engagement=delivered)
    assert (len(draft.snapshot["open_points"]), len([*no_severe_issue(draft)])) == (2, 1)
    waiver = services.draft_blocker_waiver(actor=act.manager, engagement=delivered,
                                           reason="客户先行上线")
    assert [*no_severe_issue(draft)]  # drafted only
    services.sign_blocker_waiver(actor=act.reviewer, waiver=waiver)
    assert not [*no_severe_issue(draft)]
    with override("en"):
        assert any("Waivers and exclusions" in problem.sentence for problem in facts_current(draft))
    draft = reporting.refresh_draft(actor=act.manager, document=draft)
    [point] = draft.snapshot["open_points"]
    assert "手册" in point["zh-hans"]
    with override("en"):
        page = render_to_string(TEMPLATE, context_of(draft.snapshot, "en"))
    word = zipfile.ZipFile(io.BytesIO(document_docx(draft.snapshot, "en"))).read(
        "word/document.xml").decode()
    for text in (page, word):
        assert f"By waiver {waiver}, signed by {act.reviewer.get_full_name()} on " in text
        assert "Waived by the customer: held up the final acceptance" in text
        assert text.count("推理偶发中断") == 3  # conclusion, departures, table of issues
    BlockerWaiver.objects.update(checks=[{"code": "deliverable-D-01 手册", "sentence": "手册"}])
    [point] = open_points(Source(draft))
    assert "推理偶发中断" in point["zh-hans"]


@pytest.mark.slow
def test_warranty_and_payments_follow_the_certificate_in_force(delivered, act):
    """They stand while a correction is issued and where it is withdrawn, and end with the signed
    rejection that supersedes the acceptance."""
    services.set_terms(actor=act.manager, engagement=delivered, warranty_months=12)
    first = act.open(delivered)
    act.decide(first)
    act.sign(first)

    def corrected():
        newest = delivered.documents.filter(kind="FA").latest("version")
        return services.open_review(actor=act.manager, document=act.correct(newest, TOLD))

    def in_force():
        review = certificate_in_force(delivered).review
        return review.pk, stands(review)[2], warranty_period(review) is not None

    holds = (first.pk, ["FA"], True)
    assert in_force() == holds
    second = corrected()
    assert in_force() == holds
    withdraw_document(actor=act.manager, document=second.document, reason="写错")
    assert in_force() == holds
    third = corrected()
    act.decide(third, "rejected", reason="复测不通过")
    act.sign(third)
    assert in_force() == (third.pk, [], False)
    with pytest.raises(WrongState):
        services.raise_claim(actor=act.reviewer, engagement=delivered, description="x",
                             model=delivered.models.get(code="LLM"),
                             found_on=timezone.localdate())


def replace_criteria(delivered, people, act) -> None:
    criteria = assessing.draft_criteria(actor=act.manager, engagement=delivered)
    old = criteria.criteria.filter(threshold__gt=0).first()
    assessing.remove_criterion(actor=act.manager, criterion=old)
    assessing.add_criterion(
        actor=act.manager, criteria_set=criteria, model=old.model, definition=old.definition,
        stage=old.stage, baseline=old.baseline, threshold=old.threshold / 2,
        threshold_unit=ThresholdUnit.FRACTION)
    sign_for_both(people, criteria)


@pytest.mark.slow
def test_silence_does_not_accept_under_replaced_criteria(delivered, people, act):
    services.set_terms(actor=act.manager, engagement=delivered, review_days=5, is_deemed=True,
                       clause="合同第 9.2 条")
    review = act.open(delivered)
    Review.objects.filter(pk=review.pk).update(opened_at=timezone.now() - timedelta(days=7))
    review.refresh_from_db()
    services.record_notice(
        actor=act.manager, review=review, channel="courier", addressee="陈国栋", reference="SF1",
        delivered_on=timezone.localdate() - timedelta(days=6))
    replace_criteria(delivered, people, act)
    with override("en"), pytest.raises(WrongState, match="other criteria were agreed on"):
        services.record_deemed_acceptance(actor=act.manager, review=review)


@pytest.mark.slow
def test_nothing_is_accepted_under_criteria_that_others_have_replaced(delivered, people, act):
    """What was issued or drafted under the earlier text is drawn anew; what is signed stays."""
    review = act.open(delivered)
    act.decide(review)
    draft = reporting.draft_test_report(actor=act.manager, engagement=delivered)
    assert not [*criteria_signed(draft)]
    replace_criteria(delivered, people, act)
    assert [*criteria_signed(draft)]
    for step in (act.begin, act.decide):
        with override("en"), pytest.raises(WrongState, match="other criteria were agreed on"):
            step(review)
    assert act.decide(review, "rejected", reason="x").decision == "rejected"


def test_the_page_of_waivers_shows_drafts_and_signs_them(client, delivered, act):
    control.add_issue(actor=act.manager, engagement=delivered, description="推理偶发中断",
                      level="blocking", raised_on=timezone.localdate(),
                      due_on=timezone.localdate(), owner=act.manager)
    page = reverse("acceptance:blocker_waivers", args=["EP2501"])
    client.force_login(act.manager)
    [row] = blockers_of(delivered)
    assert client.post(page, {"checks": [row["code"]], "reason": ""}).status_code == 400
    assert client.post(page, {"checks": [row["code"]], "reason": "先上线"}).status_code == 302
    waiver = BlockerWaiver.objects.get()
    client.force_login(act.reviewer)
    assert "推理偶发中断" in client.get(page).content.decode()
    client.post(reverse("acceptance:blocker_waiver_step", args=[waiver.pk, "sign"]))
    waiver.refresh_from_db()
    assert waiver.signed_by == act.reviewer
