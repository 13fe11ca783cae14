"""Waivers, stages out of scope and dropped models stand in report and acceptance document."""

import pytest
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import override

from delivery.documents.bilingual import in_language
from delivery.reports import registry, services
from delivery.reports.facts.waivers_and_omissions import departures
from engagements import services as engagement_services
from engagements.models import Role, StageWaiver
from tests.cached_fixtures import cached_fixture


@pytest.fixture
@cached_fixture
def departed(delivered, people):
    """One stage waived, one out of scope, one model dropped."""
    manager, now = people[Role.MANAGER], timezone.now()
    llm, psr = delivered.models.get(code="LLM"), delivered.models.get(code="PSR")
    StageWaiver.objects.create(
        record=llm.stages.get(stage="env"), reason="堡垒机延期一周", drafted_by=manager,
        drafted_at=now, signed_by=people[Role.ADMINISTRATOR], signed_at=now, content_hash="0" * 64,
        checks=[{"code": "preflight", "label": "环境检查", "sentence": "未运行"}])
    StageWaiver.objects.create(  # never signed: not in force
        record=llm.stages.get(stage="design"), reason="草稿", drafted_by=manager, drafted_at=now)
    engagement_services.move_stage(actor=manager, record=llm.stages.get(stage="infer_tune"),
                                   move="skip",
                        comment="客户自行部署")
    engagement_services.drop_model(actor=manager, model=psr, reason="CR-EP2501-001")
    return delivered


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["TR", "FA"])
def test_departures_are_told_with_their_reasons(departed, people, kind):
    draft = services.draft_document(actor=people[Role.MANAGER], engagement=departed, kind=kind)
    facts = in_language(draft.snapshot, "en")["departures"]
    [waiver] = facts["stage_waivers"]
    assert (waiver["stage"], waiver["checks"], waiver["reason"]) == (
        "Environment preparation", ["环境检查"], "堡垒机延期一周")
    [row] = facts["skipped"]
    assert (row["model"], row["reason"], row["by"]) == ("LLM", "客户自行部署", "Manager")
    assert [(row["model"], row["reason"]) for row in facts["dropped"]] == [
        ("PSR", "CR-EP2501-001")]
    with override("en"):
        page = render_to_string("documents/parts/departures.html", {"departures": facts})
    assert all(part in page for part in ("堡垒机延期一周", "客户自行部署", "CR-EP2501-001"))
    assert "草稿" not in page


def test_a_stage_out_of_the_models_scope_names_the_scope(people, engagement):
    engagement_services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="DET",
                                  name="检测", scope="inference")
    rows = in_language(departures(engagement), "en")["skipped"]
    assert {(row["stage"], row["reason"]) for row in rows} == {
        ("Training adaptation", "Inference only"), ("Training tuning", "Inference only")}


def test_the_acceptance_document_prints_them(db):
    kind = registry.get("FA")
    parts = {part for section in (*kind.sections, *kind.annexes) for part in section.all_parts}
    assert "part:departures" in parts
