"""The customer's review: comment, decide once, sign the hash."""

import io
import json
from datetime import timedelta

import pypdf
import pytest
from django.utils import timezone

from delivery.acceptance import services
from delivery.acceptance.certificates import certificate_in_force
from delivery.acceptance.models import Identification, Review
from delivery.acceptance.signing.signature_page import signed_facts
from delivery.documents.pdf import html_of
from delivery.reports import services as reports
from delivery.reports.models import Document
from delivery.reports.rendering import TEMPLATE, context_of
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.gates import evaluate
from engagements.models import (
    AuditEntry,
    ChecklistItem,
    Engagement,
    Role,
    StageRecord,
    User,
)
from engagements.services import add_model, drop_model, tick_item
from tests.delivery.review_steps import SOON, newest_code

ISSUE = {"description": "PSR 未测", "owner": "周启明", "due_on": SOON}
MINOR = {**ISSUE, "effect": "none"}


def gate(engagement, model="LLM"):
    record = StageRecord.objects.get(model__engagement=engagement, model__code=model,
                                     stage="accept")
    return next(result for result in evaluate(record) if result.code == "document")


def test_only_a_member_of_the_customer_decides(review, act, people):
    outsider = User.objects.create_user("outsider", role=Role.REVIEWER)
    for actor in (people[Role.MANAGER], people[Role.ADMINISTRATOR], outsider):
        with pytest.raises(NotAllowed):
            act.decide(review, actor=actor)
    review.refresh_from_db()
    assert review.decision == ""


def test_a_rejection_needs_a_reason_and_a_condition_its_owner_and_date(review, act, people):
    for given in ({"decision": "rejected"}, {"decision": "conditional"}, {"decision": "perhaps"},
                  {"decision": "conditional", "conditions": [{**ISSUE, "owner": " "}]},
                  {"decision": "conditional", "conditions": [{**ISSUE, "due_on": "soon"}]},
                  {"decision": "accepted", "conditions": [ISSUE]}):
        with pytest.raises(InvalidInput):
            act.decide(review, **given)
    decided = act.decide(review, "conditional", conditions=[ISSUE])
    assert [c.owner for c in decided.conditions.all()] == ["周启明"]


def test_a_rejected_whole_keeps_the_issue_of_a_conditional_model(review, act, people):
    models = [{"model": "LLM", "decision": "conditional"},
              {"model": "PSR", "decision": "rejected", "reason": "未测"}]
    with pytest.raises(InvalidInput, match="LLM"):
        act.decide(review, "rejected", models=models, conditions=[{**ISSUE, "model": "PSR"}])
    decided = act.decide(review, "rejected", models=models,
                         conditions=[{**ISSUE, "model": "LLM"}])
    assert (decided.reason, decided.conditions.get().model.code) == ("PSR: 未测", "LLM")


@pytest.mark.parametrize("is_waived", [False, True])
def test_a_failed_criterion_is_not_accepted_without_conditions(review, act, is_waived):
    facts = review.document.snapshot
    row = facts["metrics"][0]
    row["outcome"] = "failed"
    facts["departures"]["waivers"] = [
        {"model": row["model"], "name": row["name"]}] if is_waived else []
    review.document.save()
    if is_waived:
        assert act.decide(review).decision == "accepted"
    else:
        with pytest.raises(InvalidInput, match=r"failed|不通过|未通过"):
            act.decide(review)
        decided = act.decide(review, "conditional", conditions=[{
            "description": "重测", "owner": "周", "due_on": f"{SOON}"}])
        assert decided.decision == "conditional"


def test_a_decision_is_corrected_until_somebody_signs(review, act, people):
    with pytest.raises(WrongState):
        act.sign(review)
    act.decide(review, "conditional", conditions=[{**ISSUE, "model": "PSR"}])
    assert decisions(review) == {"LLM": "accepted", "PSR": "conditional"}
    code = act.begin(review)
    act.decide(review, "rejected", reason="PSR 未测")
    assert (decisions(review)["PSR"], review.conditions.count()) == ("rejected", 0)
    assert AuditEntry.objects.filter(action="review.decide").order_by("pk").last().data[
        "before"] == "conditional"
    with pytest.raises(WrongState):  # the code was sent for the decision before
        act.sign(review, code=code)
    act.decide(review)
    assert Review.objects.get(pk=review.pk).retest_on is None
    services.name_signers(actor=act.manager, review=review, users=[
        act.reviewer, act.colleague(review.engagement, "second")])
    Identification.objects.update(sent_at=timezone.now() - timedelta(minutes=2))
    act.sign(review)
    with pytest.raises(WrongState):
        act.decide(review, "rejected", reason="no")


def decisions(review) -> dict[str, str]:
    return dict(review.model_decisions.values_list("model__code", "decision"))


@pytest.mark.parametrize("given", [
    {"decision": "rejected", "reason": "x", "retest_on": None},
    {"decision": "rejected", "reason": "x", "retest_on": timezone.localdate()},
    {"decision": "conditional", "conditions": [{**ISSUE, "due_on": timezone.localdate()}]}])
def test_dates_of_a_decision_lie_after_today(review, act, given):
    with pytest.raises(InvalidInput):
        act.decide(review, **given)


def test_a_signature_holds_the_content_hash_and_accepts_the_engagement(review, act, people):
    assert not gate(review.document.engagement).is_met
    act.decide(review)
    signature = act.sign_and_seal(review)
    document = Document.objects.get(pk=review.document_id)
    assert (document.state, signature.signed_hash) == ("signed", document.content_hash)
    assert {f.format for f in document.files.all()} == {"docx", "pdf", "signed", "xlsx"}
    assert Engagement.objects.get(pk=document.engagement_id).state == "accepted"
    assert gate(document.engagement).is_met
    with pytest.raises(WrongState):
        act.sign(review)


def test_a_signed_rejection_does_not_accept(review, act, people):
    act.decide(review, "rejected", reason="PSR 未测")
    act.sign(review)
    engagement = Engagement.objects.get(pk=review.document.engagement_id)
    assert engagement.state == "active"
    assert not gate(engagement).is_met


def state_of(review) -> str:
    return Engagement.objects.get(pk=review.document.engagement_id).state


def states(*reviews) -> list[str]:
    return [Document.objects.get(pk=review.document_id).state for review in reviews]


def acceptance_stages(review) -> dict[str, str]:
    return dict(StageRecord.objects.filter(
        model__engagement=review.document.engagement, stage="accept"
        ).values_list("model__code", "state"))


def close(condition, act):
    services.report_condition(actor=act.manager, condition=condition, report="已补测")
    services.close_condition(actor=act.reviewer, condition=condition)


def test_engagement_and_acceptance_stages_follow_the_certificate_in_force(review, act):
    """With conditions is not accepted; a correction takes nothing back until it is signed, and
    nothing at all where it is withdrawn."""
    engagement = review.document.engagement
    StageRecord.objects.filter(model__engagement=engagement).exclude(stage="accept").update(
        state="passed", passed_at=timezone.now())
    act.decide(review, "conditional", conditions=[{**MINOR, "model": "LLM"}])
    act.sign(review)
    assert (state_of(review), acceptance_stages(review)) == (
        "active", {"LLM": "submitted", "PSR": "submitted"})
    for item in ChecklistItem.objects.filter(record__model__code="LLM", record__stage="accept"):
        tick_item(actor=act.people[Role.CONSULTANT], item=item, evidence="清单")
    close(review.conditions.get(), act)
    assert (state_of(review), acceptance_stages(review)) == (  # the checklist of PSR is open
        "accepted", {"LLM": "passed", "PSR": "submitted"})
    again = services.open_review(actor=act.manager, document=act.correct(
        Document.objects.get(pk=review.document_id), {}))
    assert (state_of(review), acceptance_stages(review)["LLM"]) == ("accepted", "passed")
    assert states(review, again) == ["signed", "issued"]
    reports.withdraw_document(actor=act.manager, document=again.document, reason="写错")
    assert (state_of(review), acceptance_stages(review)["LLM"]) == ("accepted", "passed")
    assert certificate_in_force(engagement).pk == review.document_id
    again = services.open_review(actor=act.manager, document=act.correct(
        Document.objects.get(pk=again.document_id), {}))
    assert certificate_in_force(engagement).pk == review.document_id
    act.decide(again, "rejected", reason="复测不通过")
    act.sign(again)
    assert states(review, again) == ["superseded", "signed"]
    assert AuditEntry.objects.filter(action="document.supersede").count() == 1
    assert (state_of(again), acceptance_stages(again)) == (
        "active", {"LLM": "sent_back", "PSR": "sent_back"})


def test_a_rejected_model_leaves_the_engagement_open(review, act, people):
    """The other models are accepted; the whole is once the rejected one was tested again."""
    act.decide(review, "conditional", conditions=[MINOR],
               models=[{"model": "PSR", "decision": "rejected", "reason": "未测"}])
    act.sign(review)
    engagement = review.document.engagement
    assert (state_of(review), gate(engagement).is_met, gate(engagement, "PSR").is_met) == (
        "active", False, False)
    close(review.conditions.get(), act)
    assert (state_of(review), gate(engagement).is_met) == ("active", True)
    again = services.open_review(actor=act.manager, document=act.correct(
        Document.objects.get(pk=review.document_id), {}))
    act.decide(again)
    act.sign(again)
    assert state_of(again) == "accepted"


def test_the_acceptance_follows_the_models_that_come_and_go(review, act):
    """One that was rejected and is dropped is waited for no more; one that comes in was not
    accepted."""
    act.decide(review, "conditional", conditions=[MINOR],
               models=[{"model": "PSR", "decision": "rejected", "reason": "未测"}])
    act.sign(review)
    close(review.conditions.get(), act)
    engagement = review.document.engagement
    assert state_of(review) == "active"
    drop_model(actor=act.manager, model=engagement.models.get(code="PSR"), reason="改期")
    assert state_of(review) == "accepted"
    add_model(actor=act.manager, engagement=engagement, code="OCR", name="文字识别")
    assert (state_of(review), gate(engagement, "OCR").is_met) == ("active", False)


def test_every_condition_is_closed_first(review, act):
    act.decide(review, "conditional", conditions=[ISSUE, MINOR])
    act.sign(review)
    for condition in review.conditions.order_by("effect"):
        assert state_of(review) == "active"
        close(condition, act)
    assert state_of(review) == "accepted"


def test_a_changed_document_is_not_signed(review, act, people):
    act.decide(review)
    document = review.document
    document.snapshot["conclusion"] = "passed"
    document.save(update_fields=["snapshot"])
    with pytest.raises(WrongState):
        act.sign(review)


def test_comments_come_from_both_sides_until_the_signature(review, act, people):
    services.comment(actor=people[Role.REVIEWER], review=review, text="PSR？")
    services.comment(actor=people[Role.CONSULTANT], review=review, text="下周补测")
    with pytest.raises(NotAllowed):
        services.comment(actor=people[Role.SALES], review=review, text="?")
    act.decide(review)
    act.sign(review)
    review = Review.objects.get(pk=review.pk)
    with pytest.raises(WrongState):
        services.comment(actor=people[Role.REVIEWER], review=review, text="more")
    assert [c.text for c in review.comments.all()] == ["PSR？", "下周补测"]


@pytest.mark.parametrize(("role", "status"), [
    (Role.REVIEWER, 200), (Role.MANAGER, 200), (None, 404)])
def test_who_opens_the_page(review, act, people, stranger, client, role, status):
    client.force_login(people[role] if role else stranger)
    assert client.get(f"/documents/{review.document_id}/review/").status_code == status


def test_the_page_takes_comment_decision_and_signature(review, act, people, client):
    client.force_login(people[Role.REVIEWER])
    url = f"/documents/{review.document_id}/review/"
    assert client.post(url + "comment/", {"text": "看过了"}).status_code == 302
    empty = {"conditions-TOTAL_FORMS": 1, "conditions-INITIAL_FORMS": 0,
             "models-TOTAL_FORMS": 2, "models-INITIAL_FORMS": 2,
             "models-0-model": "LLM", "models-1-model": "PSR", "models-1-decision": "rejected",
             "models-1-reason": "未测"}
    refused = client.post(url + "decide/", {"decision": "conditional", **empty})
    assert refused.status_code == 400
    answer = client.post(url + "decide/", {
        "decision": "conditional", **empty, "conditions-0-description": "PSR",
        "conditions-0-owner": "周启明", "conditions-0-due_on": f"{SOON}",
        "conditions-0-model": "PSR", "conditions-0-effect": "blocks", "retest_on": f"{SOON}"})
    assert answer.status_code == 302
    answer = client.post(url + "identify/", {"capacity": "主任", "agrees": "on"})
    assert answer.status_code == 302
    answer = client.post(url + "sign/", {"code": newest_code(), "mark": "drawn", "confirmed": "on",
                                         "strokes": json.dumps([[[n, n] for n in range(9)]])})
    assert answer.status_code == 302
    review.refresh_from_db()
    signature = review.signatures.get()
    assert (review.decision, signature.ip_address) == ("conditional", "127.0.0.1")
    assert (signature.name, signature.mark) == ("Reviewer", "drawn")
    assert [(m.model.code, m.decision) for m in review.model_decisions.all()] == [
        ("LLM", "accepted"), ("PSR", "rejected")]
    assert [c.model.code for c in review.conditions.all()] == ["PSR"]


@pytest.mark.slow
def test_the_signed_copy_says_what_kind_of_signature_it_is(typeset, review, act):
    act.decide(review)
    act.sign(review)
    assert services.store_signed_copies(review, ["en"]) == 1
    copy = review.document.files.get(format="signed", language="en")
    text = " ".join(page.extract_text() for page in pypdf.PdfReader(
        io.BytesIO(copy.file.read())).pages)
    flat = "".join(text.split())
    assert "simpleelectronicsignature" in flat
    assert "notbyitselfareliableelectronicsignature" in flat
    assert "Reviewer" in flat
    assert review.document.content_hash in flat
    assert "madewithapracticecertificate" in flat
    assert "one-timecodesenttor***@firm.example" in flat
    signed = AuditEntry.objects.get(action="document.sign")
    assert signed.entry_hash in flat


def test_the_signature_page_speaks_the_language_of_the_copy(review, act):
    act.decide(review)
    act.sign(review)
    signed = signed_facts(review)
    for language, title, name in (("zh-hans", "签署页", "简体中文"),
                                  ("en", "Signature page", "Simplified Chinese")):
        context = context_of(review.document.snapshot, language, signed)
        assert context["sections"][-1]["title"] == title
        assert f"{name}: " in html_of(TEMPLATE, context, language)
