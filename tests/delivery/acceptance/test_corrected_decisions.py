"""A corrected decision says nothing of the former one: neither its reasons nor its issues."""

import pytest
from django.test import Client

from delivery.acceptance.signing.signature_page import signed_facts
from delivery.documents.pdf import html_of
from delivery.reports.rendering import TEMPLATE, context_of
from tests.delivery.conftest import api_client
from tests.delivery.review_steps import SOON

WHY = "训练不稳定"
ISSUE = {"description": "补充运维手册", "owner": "周启明", "due_on": f"{SOON}"}


def stored(review) -> tuple[str, str, dict, list]:
    """Decision and reason of the whole, of each model, and the issues."""
    review.refresh_from_db()
    return (review.decision, review.reason,
            {row.model.code: (row.decision, row.reason)
             for row in review.model_decisions.select_related("model")},
            sorted(row.description for row in review.conditions.all()))


PASSED = ("accepted", "", {"LLM": ("accepted", ""), "PSR": ("accepted", "")}, [])


def decide_by_service(review, act, given):
    act.decide(review, **given)


def decide_by_api(review, act, given):
    """A program that sends back what it read, but for the decision."""
    answer = api_client(act.reviewer).post(
        f"/api/v1/reviews/{review.pk}/decide/", given, format="json")
    assert answer.status_code == 200, answer.json()


def as_sent(value):
    """What a browser makes of a value: it ends lines with two characters."""
    return "\r\n".join(value.splitlines()) if isinstance(value, str) else value


def decide_on_the_page(review, act, given):
    """The form as it opens, with other marks."""
    client = Client()
    client.force_login(act.reviewer)
    url = f"/documents/{review.document_id}/review/"
    opened = client.get(url).context
    forms = [opened["decision_form"], *opened["model_forms"], *opened["condition_forms"],
             opened["model_forms"].management_form, opened["condition_forms"].management_form]
    sent = {field.html_name: as_sent(field.value()) for form in forms for field in form
            if field.value() is not None}
    sent["decision"] = given["decision"]
    for at, form in enumerate(opened["model_forms"]):
        sent[f"models-{at}-decision"] = next(
            row["decision"] for row in given["models"] if row["model"] == form["model"].value())
    answer = client.post(url + "decide/", sent)
    assert answer.status_code == 302, answer.context["decision_form"].errors


WAYS = [decide_by_service, decide_by_api, decide_on_the_page]


def each(decision: str, reason: str = "") -> list[dict]:
    return [{"model": code, "decision": decision, "reason": reason} for code in ("LLM", "PSR")]


@pytest.mark.slow
@pytest.mark.parametrize("decide", WAYS)
@pytest.mark.parametrize("why", [WHY, f"{WHY}\n第 200 步起"], ids=["line", "lines"])
def test_a_pass_does_not_repeat_the_reason_of_the_rejection(review, act, decide, why):
    act.decide(review, "rejected", reason=why, models=each("rejected", why))
    decide(review, act, {"decision": "accepted", "reason": why, "models": each("accepted", why)})
    assert stored(review) == PASSED
    act.sign(review)
    for language in ("zh-hans", "en"):
        facts = context_of(review.document.snapshot, language, signed_facts(review))
        assert WHY not in html_of(TEMPLATE, facts, language)


@pytest.mark.parametrize("decide", WAYS)
def test_a_pass_does_not_repeat_the_issues_of_the_conditions(review, act, decide):
    issues = [{**ISSUE, "model": ""}, {**ISSUE, "description": "PSR 补测", "model": "PSR"}]
    act.decide(review, "conditional", reason="见遗留问题", conditions=issues)
    decide(review, act, {"decision": "accepted", "reason": "见遗留问题", "conditions": issues,
                         "models": each("accepted")})
    assert stored(review) == PASSED


def test_only_the_issues_of_what_now_passes_fall(review, act):
    issues = [{**ISSUE, "model": "LLM"}, {**ISSUE, "description": "PSR 补测", "model": "PSR"}]
    act.decide(review, "conditional", conditions=issues)
    act.decide(review, "conditional", conditions=issues,
               models=[{"model": "PSR", "decision": "accepted"}])
    assert stored(review) == ("conditional", "", {
        "LLM": ("conditional", ""), "PSR": ("accepted", "")}, ["补充运维手册"])


def test_a_pass_does_not_repeat_the_reasons_of_several_models(review, act):
    act.decide(review, "rejected", models=each("rejected", WHY))
    assert stored(review)[1] == f"LLM: {WHY}\nPSR: {WHY}"
    decide_on_the_page(review, act, {"decision": "accepted", "models": each("accepted")})
    assert stored(review) == PASSED


def test_a_reason_for_another_model_is_told_by_that_model(review, act):
    act.decide(review, "rejected", models=[
        {"model": "PSR", "decision": "rejected", "reason": WHY},
        {"model": "LLM", "decision": "accepted"}])
    assert stored(review)[1] == f"PSR: {WHY}"
    act.decide(review, "rejected", reason=f"PSR: {WHY}", models=[
        {"model": "LLM", "decision": "rejected", "reason": "精度不足"},
        {"model": "PSR", "decision": "accepted", "reason": WHY}])
    assert stored(review) == ("rejected", "LLM: 精度不足", {
        "LLM": ("rejected", "精度不足"), "PSR": ("accepted", "")}, [])


def test_what_is_written_anew_or_decided_the_same_stays(review, act):
    act.decide(review, "rejected", reason=WHY)
    act.decide(review, "rejected", reason=WHY)  # only the day of the repetition is corrected
    assert stored(review)[1] == WHY
    act.decide(review, "accepted", reason="复核后稳定")
    assert stored(review)[:2] == ("accepted", "复核后稳定")
    act.decide(review, "rejected", reason="复核后稳定")  # a rejection is never without a reason
    assert stored(review)[:2] == ("rejected", "复核后稳定")
