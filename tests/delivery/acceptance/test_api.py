"""Every page of a review has its endpoint in the API, with the same answers to the same people."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.acceptance.models import Review
from engagements.models import Role
from tests.delivery.review_steps import SHORT, SOON, newest_code
from workers.models import Job


@pytest.fixture
def call(people, stranger):
    """Call as somebody; status and body."""
    everybody = {**people, "stranger": stranger}

    def go(role, method, path, data=None, form="json"):
        api = APIClient(HTTP_ACCEPT_LANGUAGE="en")
        api.force_authenticate(everybody[role])
        answer = getattr(api, method)(f"/api/v1/{path}", data, format=form)
        return answer.status_code, answer.json() if "json" in answer["Content-Type"] else answer

    return go


def scan() -> SimpleUploadedFile:
    return SimpleUploadedFile("scan.pdf", SHORT)


@pytest.mark.slow
def test_a_whole_review_by_api(call, review, people, act):
    at, reviewer = f"reviews/{review.pk}/", Role.REVIEWER
    status, opened = call(Role.MANAGER, "post", "reviews/", {"document": review.document_id})
    assert (status, opened["id"]) == (201, review.pk)  # safe to repeat
    metric = review.document.snapshot["metrics"][0]["criterion"]
    _status, shown = call(reviewer, "post", at + "comment/",
                          {"text": "?", "criterion": metric})
    [asked] = shown["comments"]
    call(Role.CONSULTANT, "post", at + "comment/", {"text": "!", "answers": asked["id"]})
    _status, shown = call(reviewer, "post", at + "resolve/", {"comment": asked["id"]})
    assert [(row["criterion"], row["answers"], bool(row["resolved_at"]))
            for row in shown["comments"]] == [
        (metric, None, True), (metric, asked["id"], False)]
    call(Role.MANAGER, "post", "bundles/", {"document": review.document_id})
    _status, items = call(reviewer, "get", at + "deliverables/")
    status, _shown = call(reviewer, "post", at + "receipts/",
                          {"keys": [row["key"] for row in items]})
    _status, items = call(reviewer, "get", at + "deliverables/")
    assert (status, {row["is_received"] for row in items}) == (200, {True})
    _status, shown = call(Role.MANAGER, "post", at + "signers/", {"users": ["reviewer"]})
    assert [(row["position"], row["state"]) for row in shown["signers"]] == [(1, "waiting")]
    call(reviewer, "post", at + "decide/", {"decision": "accepted"})
    call(reviewer, "post", at + "identify/",
         {"capacity": "主任", "agrees": True})
    status, shown = call(reviewer, "post", at + "sign/",
                         {"code": newest_code(), "mark": "scan", "scan": scan()}, "multipart")
    assert (status, shown["signatures"][0]["mark"]) == (200, "scan")
    status, stored = call(reviewer, "get",
                          f"{at}signatures/{shown['signatures'][0]['id']}/scan/")
    assert (status, b"".join(stored.streaming_content)) == (200, SHORT)


@pytest.mark.slow
def test_terms_notice_and_deemed_acceptance(call, delivered, act):
    terms = {"review_days": 5, "is_deemed": True, "clause": "8.3", "needs_power": False}
    assert call(Role.CONSULTANT, "put", "acceptance-terms/EP2501/", terms)[0] == 403
    assert call("stranger", "get", "acceptance-terms/EP2501/")[0] == 404
    assert call(Role.MANAGER, "put", "acceptance-terms/EP2501/",
                {**terms, "clause": ""})[0] == 400
    assert call(Role.MANAGER, "put", "acceptance-terms/EP2501/", terms)[0] == 200
    assert call(Role.MANAGER, "get", "acceptance-terms/EP2501/")[1]["clause"] == "8.3"
    review = act.open(delivered)
    at, day = f"reviews/{review.pk}/", timezone.localdate() - timedelta(days=9)
    Review.objects.update(opened_at=timezone.now() - timedelta(days=10))
    proof = {"channel": "courier", "addressee": "陈国栋", "reference": "SF1", "delivered_on": day}
    assert call(Role.REVIEWER, "post", at + "notice/", proof)[0] == 403
    status, shown = call(Role.MANAGER, "post", at + "notice/", {**proof, "file": scan()},
                         "multipart")
    retained = shown["notice_proofs"][0]
    status, stored = call(Role.MANAGER, "get", f"{at}notice-proofs/{retained['id']}/file/")
    assert (status, b"".join(stored.streaming_content)) == (200, SHORT)
    assert call(Role.REVIEWER, "post", at + "deemed/")[0] == 403
    status, shown = call(Role.MANAGER, "post", at + "deemed/")
    assert (status, shown["decision"]) == (200, "deemed")


def test_conditions_and_the_re_test(call, review):
    at = f"reviews/{review.pk}/"
    call(Role.REVIEWER, "post", at + "decide/", {"decision": "conditional", "conditions": [
        {"description": "PSR", "owner": "周启明", "due_on": f"{SOON}"}]})
    _status, page = call(Role.REVIEWER, "get", "outstanding-issues/")
    path = f"outstanding-issues/{page['results'][0]['id']}/"
    assert call("stranger", "get", path)[0] == 404
    assert call(Role.REVIEWER, "post", path + "report/", {"report": "x"})[0] == 403
    assert call(Role.REVIEWER, "post", path + "close/")[0] == 409  # not reported yet
    assert call(Role.CONSULTANT, "post", path + "report/", {"report": "已补测"})[0] == 200
    assert call(Role.CONSULTANT, "post", path + "close/")[0] == 403
    assert call(Role.REVIEWER, "post", path + "close/")[1]["closed_at"]
    status, rows = call(Role.REVIEWER, "get", at + "retest/")
    assert (status, len(rows), rows[0]["old"]["criterion"]) == (
        200, 3, review.document.snapshot["metrics"][0]["criterion"])


def test_powers_of_attorney(call, review):
    given = {"engagement": "EP2501", "user": "reviewer", "capacity": "主任",
             "granted_by": "王建国", "valid_from": "2025-01-01"}
    for role, expected in ((Role.REVIEWER, 403), ("stranger", 400), (Role.MANAGER, 201)):
        status, made = call(role, "post", "powers-of-attorney/", {**given, "file": scan()},
                            "multipart")
        assert status == expected, role
    path = f"powers-of-attorney/{made['id']}/"
    assert call("stranger", "get", path)[0] == 404
    status, stored = call(Role.REVIEWER, "get", path + "file/")
    assert (status, b"".join(stored.streaming_content)) == (200, SHORT)
    assert call(Role.REVIEWER, "post", path + "end/", {"reason": "x"})[0] == 403
    assert call(Role.MANAGER, "post", path + "end/", {"reason": "换人"})[1]["ended_at"]


def test_verification_without_log_in(review):
    document, api = review.document, APIClient()
    asked = {"number": document.number, "hash": document.content_hash}
    found = api.get("/api/v1/verification/", asked).json()["found"]
    assert found == {"number": document.number, "version": 1, "is_replaced": False,
                     "is_signed": False, "is_practice": False, "decision": ""}
    assert api.get("/api/v1/verification/", {**asked, "hash": "0" * 64}).json() == {"found": None}
    assert api.get("/api/v1/verification/", {"number": "x"}).status_code == 400
    for _turn in range(12):
        last = api.get("/api/v1/verification/", asked)
    assert last.status_code == 429


ACTIONS = ["comment", "resolve", "receipts", "signers", "notice", "deemed", "decide", "identify",
           "sign", "decline"]


@pytest.mark.parametrize("name", ACTIONS)
def test_strangers_get_404_whatever_they_ask(call, review, name):
    """Bodies are checked first; a valid one of each kind is in the tests above."""
    assert call("stranger", "get", f"reviews/{review.pk}/")[0] == 404
    bodies = {"comment": {"text": "x"}, "resolve": {"comment": 0}, "receipts": {"keys": ["x"]},
              "signers": {"users": []}, "decide": {"decision": "accepted"},
              "notice": {"channel": "email", "addressee": "a", "reference": "b",
                         "delivered_on": "2026-01-01"},
              "identify": {"name": "a", "capacity": "b", "agrees": True},
              "sign": {"code": "123456"}, "decline": {"reason": "x"}}
    status, _body = call("stranger", "post", f"reviews/{review.pk}/{name}/", bodies.get(name))
    assert status in ((400, 404) if name == "resolve" else (404,))


@pytest.mark.slow
def test_a_claim_under_the_warranty_by_api(call, delivered, act):
    call(Role.MANAGER, "put", "acceptance-terms/EP2501/", {"warranty_months": 12})
    review = act.open(delivered)
    act.decide(review)
    act.sign(review)
    claim = {"engagement": delivered.pk, "description": "推理结果偶发为空",
             "found_on": f"{timezone.localdate()}"}
    assert call("stranger", "post", "warranty-claims/", claim)[0] == 400
    status, made = call(Role.REVIEWER, "post", "warranty-claims/", claim)
    assert (status, made["number"], made["is_covered"]) == (201, 1, True), made
    path = f"warranty-claims/{made['id']}/"
    run = Job.objects.create(kind="env.npu_info", engagement=delivered, state="succeeded",
                             finished_at=timezone.now())
    repair = {"report": "修正解码参数", "regression": run.pk}
    assert call(Role.REVIEWER, "post", path + "repair/", repair)[0] == 403
    assert call(Role.REVIEWER, "post", path + "close/")[0] == 409
    status, shown = call(Role.CONSULTANT, "post", path + "repair/", repair)
    assert (status, shown["regression"]) == (200, run.pk)
    assert call(Role.MANAGER, "post", path + "close/")[0] == 403
    assert call(Role.REVIEWER, "post", path + "close/")[1]["closed_at"]
    assert call(Role.MANAGER, "get", "warranty-claims/?engagement=0")[0] == 400
