"""Scope of single stages, evidence of checklist items, what checks say, stage sheets."""

import pytest
from django.urls import reverse
from django.utils.translation import override

from engagements import services
from engagements.errors import InvalidInput, WrongState
from engagements.gates import evaluate, seen_by
from engagements.models import ChecklistItem, Role
from engagements.stage_forms import STAGE_FORMS
from engagements.stages import Scope, Stage, StageMove, StageState
from tests.delivery.conftest import loss_log, stored
from tests.engagements.conftest import move


def test_single_stages_leave_and_enter_the_scope(people, model):
    env = model.stages.get(stage=Stage.ENV)
    with pytest.raises(InvalidInput):
        move(people, env, StageMove.SKIP)
    move(people, env, StageMove.SKIP, comment="客户自备环境")
    move(people, env, StageMove.RESTORE, comment="改由我方搭建")
    env.refresh_from_db()
    assert env.state == StageState.NOT_STARTED
    for stage in (Stage.SURVEY, Stage.ACCEPT):
        with pytest.raises(WrongState):
            move(people, model.stages.get(stage=stage), StageMove.SKIP, comment="x")


def test_a_changed_scope_keeps_what_was_taken_out_one_by_one(people, model):
    manager = people[Role.MANAGER]
    move(people, model.stages.get(stage=Stage.TRAIN_TUNE), StageMove.SKIP, comment="x")
    services.set_model_scope(actor=manager, model=model, scope=Scope.TRAINING, reason="r")
    services.set_model_scope(actor=manager, model=model, scope=Scope.FULL, reason="r")
    skipped = model.stages.filter(state=StageState.SKIPPED).values_list("stage", flat=True)
    assert list(skipped) == [Stage.TRAIN_TUNE, Stage.OPERATION]


def test_evidence_of_checklist_items(people, submitted):
    actor = people[Role.CONSULTANT]
    item = submitted.checklist.get(needs_evidence=True)
    other = submitted.checklist.get(needs_evidence=False)
    assert services.tick_item(actor=actor, item=other).done_by == actor
    for evidence in ("", "#999999", "# 1 OR 1", "x" * 241):
        with pytest.raises(InvalidInput):
            services.tick_item(actor=actor, item=item, evidence=evidence)
    artifact = stored(submitted.engagement, submitted.model, "run.csv", loss_log())
    services.tick_item(actor=actor, item=item, evidence=f"#{artifact.pk}")
    assert ChecklistItem.objects.get(pk=item.pk).evidence == f"#{artifact.pk}"
    assert [c.is_met for c in evaluate(submitted) if c.code == "checklist"] == [True]


def test_adaptation_is_confirmed_part_by_part(people, model):
    """Data loading, loss, optimiser, evaluation script (seed S2): each has an item of its own."""
    record = model.stages.get(stage=Stage.TRAIN_ADAPT)
    texts = [item.text for item in record.checklist.all()]
    parts = [next(i for i, text in enumerate(texts) if word in text)
             for word in ("数据加载", "损失函数", "优化器", "评测脚本")]
    assert len(set(parts)) == 4
    [check] = [c for c in evaluate(record) if c.code == "checklist"]
    assert not check.is_met


@pytest.mark.slow
def test_evidence_becomes_a_link_only_where_it_is_safe(people, submitted, client):
    artifact = stored(submitted.engagement, submitted.model, "run.csv", loss_log())
    client.force_login(people[Role.CONSULTANT])
    item = submitted.checklist.get(needs_evidence=True)
    place = reverse("engagements:item_tick", args=["EP2501", "M", "survey", item.pk])
    stage = reverse("engagements:stage", args=["EP2501", "M", "survey"])
    for text, link in ((f"#{artifact.pk}", reverse("workers:artifact", args=[artifact.pk])),
                       ("https://example.org/a?b=1", "https://example.org/a?b=1"),
                       ("javascript:alert(1)", ""), ("httpx://a", ""), ("会议纪要 3", "")):
        client.post(place, {"done": "yes", "evidence": text})
        [shown] = [entry["evidence"] for entry in client.get(stage).context["items"]
                   if entry["item"].pk == item.pk]
        assert shown.url == link


def test_each_missing_check_says_what_would_make_it_pass(people, model):
    for record in model.stages.all():
        missing = [check for check in evaluate(record) if not check.is_met]
        assert [c.code for c in missing if not (c.remedy and c.url)] == []


def test_customers_get_no_links_into_the_firm(people, submitted, client):
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("engagements:stage", args=["EP2501", "M", "survey"]))
    checks = page.context["checks"]
    assert {(c.url, c.remedy) for c in checks if not c.is_met} == {("", "")}
    assert client.get(f"/api/v1/stages/{submitted.pk}/gate/").json()[0]["url"] == ""


def test_every_stage_has_a_sheet_in_both_languages():
    for stage in Stage.values:
        sheet = STAGE_FORMS[stage]
        parts = (sheet.activities, sheet.inputs, sheet.outputs, sheet.exit, sheet.risks,
                 sheet.tools, sheet.checklist)
        assert all(parts)
        with override("en"):
            assert all(str(line).isascii() or "→" in str(line) or "“" in str(line)
                       for part in parts for line in part)


def test_a_link_is_shown_to_those_only_whom_its_page_lets_in(people, model):
    checks = evaluate(model.stages.get(stage=Stage.SURVEY))
    links = {role: {c.code for c in seen_by(checks, people[role]) if c.url}
             for role in ("consultant", "sales")}
    assert links["consultant"] - links["sales"] == {"job:survey.pt_analyse"}


@pytest.mark.slow
def test_who_may_not_edit_a_customer_is_not_led_there(client, people, engagement):
    page = reverse("people:customer", args=[engagement.customer_id])
    for role, is_led in (("consultant", False), ("sales", True), ("manager", True)):
        client.force_login(people[role])
        for route, args in (("people:customers", []),
                            ("engagements:engagement", [engagement.code])):
            assert (page in client.get(reverse(route, args=args)).content.decode()) == is_led
