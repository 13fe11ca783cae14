"""After a rejection: old and new runs side by side, then the next version."""

import pytest

from delivery.acceptance import services
from delivery.acceptance.review.model_results import carried_over_decisions
from delivery.acceptance.review.retest_comparison import compare_with_current
from delivery.reports import services as reporting
from engagements.models import MigratedModel
from tests.cached_fixtures import cached_fixture
from tests.delivery.conftest import measure
from tests.document_steps import issued_document


@pytest.fixture
@cached_fixture
def rejected(review, act):
    act.decide(review, "rejected", reason="PSR 未测", models=[
        {"model": "PSR", "decision": "rejected", "reason": "未测"},
        {"model": "LLM", "decision": "accepted"}])
    act.sign(review)
    return review


def by_model(review) -> dict:
    return {row["model"]: row for row in compare_with_current(review, "en")}


def test_what_was_not_run_again_is_unchanged(rejected):
    rows = compare_with_current(rejected, "en")
    assert [(r["model"], r["is_rejected"], r["is_changed"]) for r in rows] == [
        ("LLM", False, False), ("LLM", False, False), ("PSR", True, False)]
    assert by_model(rejected)["PSR"]["old"]["outcome"] == "not_measured"
    assert by_model(rejected)["LLM"]["old"]["jobs"] == by_model(rejected)["LLM"]["new"]["jobs"]


def test_a_new_run_stands_beside_the_old_one(rejected, delivered, people):
    measure(delivered, people, MigratedModel.objects.get(code="PSR"))
    row = by_model(rejected)["PSR"]
    assert row["is_changed"]
    assert (row["old"]["outcome"], row["old"]["jobs"]) == ("not_measured", [])
    assert row["new"]["outcome"] != "not_measured"
    assert len(row["new"]["jobs"]) == 1


def test_the_page_is_for_both_sides(rejected, client, act, stranger):
    url = f"/documents/{rejected.document_id}/review/retest/"
    for user, status in ((act.manager, 200), (act.reviewer, 200), (stranger, 404)):
        client.force_login(user)
        assert client.get(url).status_code == status


@pytest.mark.slow
def test_the_next_version_is_reviewed_anew_and_leads_back(rejected, client, act, people):
    measure(rejected.document.engagement, people, MigratedModel.objects.get(code="PSR"))
    draft = reporting.draft_correction(actor=act.manager, document=rejected.document,
                                       reason="PSR 补测")
    again = services.open_review(actor=act.manager, document=issued_document(draft, people))
    assert (again.decision, again.document.version) == ("", 2)
    again.refresh_from_db()
    stored = carried_over_decisions(again)  # offered; of PSR there is a new run
    assert {code: row.decision for code, row in stored.items()} == {"LLM": "accepted"}
    client.force_login(act.reviewer)
    page = client.get(f"/documents/{again.document_id}/review/").content.decode()
    assert f"/documents/{rejected.document_id}/review/retest/" in page
    act.decide(again)
    act.sign(again)
    assert again.document.engagement.__class__.objects.get().state == "accepted"
