"""A change that adds or drops models and stages: plan, criteria, price and scope together."""

from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from assessments import services as assessing
from assessments.models import CriteriaSet, MetricDefinition
from delivery.planning.changes.scope_effects import coming_lines
from delivery.planning.models import ChangeRequest, ScopeEffect
from delivery.planning.services import change_drafts, changes, scope_effects
from delivery.quotes.models import Quote
from engagements import services as engagement_services
from engagements.errors import InvalidInput, WrongState
from engagements.models import MigratedModel, Role
from engagements.stages import Stage, StageState
from tests.delivery.conftest import sign_for_both
from tests.delivery.planning.conftest import WORDS
from tests.delivery.planning.test_all_or_nothing import everything

NEW = {"action": "add_model", "code": "OCR", "name": "文字识别", "scope": "inference"}


def submitted(people, draft):
    """The days are taken into the quote, and both sides get it."""
    scope_effects.price_scope(actor=people[Role.CONSULTANT], change=draft)
    return changes.submit_change(actor=people[Role.CONSULTANT], change=draft)


def dropping(people, draft, model):
    return scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft,
                                          action="drop_model", model=model)


def in_force(people, draft):
    put = submitted(people, draft)
    return [changes.approve_change(actor=people[role], change=put)
            for role in (Role.MANAGER, Role.REVIEWER)][-1]


def tasks(engagement):
    return sorted((task.model.code, task.stage) for task in engagement.plan.tasks.all())


@pytest.mark.slow
def test_a_dropped_model_leaves_plan_criteria_and_stages(people, two_models, draft, detector):
    manager = people[Role.MANAGER]
    criteria = assessing.draft_criteria(actor=manager, engagement=two_models)
    assessing.add_criterion(
        actor=manager, criteria_set=criteria, model=detector, threshold=30, stage="infer_tune",
        definition=MetricDefinition.objects.get(code="latency", version=1))
    sign_for_both(people, criteria)
    dropping(people, draft, detector)
    done = in_force(people, draft)
    detector.refresh_from_db()
    assert set(detector.stages.values_list("state", flat=True)) == {StageState.SKIPPED}
    assert (detector.dropped_at is not None, detector.drop_reason) == (True, str(done))
    assert {code for code, _stage in tasks(two_models)} == {"LLM"}
    signed = two_models.criteria_sets.get(state=CriteriaSet.State.SIGNED)
    assert set(signed.criteria.values_list("model__code", flat=True)) == {"LLM"}
    assert done.new_baseline.version == 2
    row = done.facts["criteria"]["rows"][0]
    assert (row["model"], row["before"], row["after"]) == ("DET", "30", "")
    record = detector.stages.get(stage="survey")
    with pytest.raises(WrongState, match="DET"):
        engagement_services.move_stage(actor=manager, record=record, move="restore", comment="x")


@pytest.mark.slow
def test_an_accepted_quote_holds_the_scope_and_a_change_moves_it(people, two_models, draft,
                                                                  detector):
    """14 models became 22 at the price of 14: what was agreed changes by a change request."""
    manager = people[Role.MANAGER]
    engagement_services.add_model(actor=manager, engagement=two_models, code="FREE", name="x")
    Quote.objects.filter(engagement=two_models).update(
        state="accepted", answered_by=people[Role.REVIEWER], answered_at=timezone.now())
    record = detector.stages.get(stage=Stage.INFER_TUNE)
    for write in (
            lambda: engagement_services.add_model(
                actor=manager, engagement=two_models, code="NEW", name="x"),
            lambda: engagement_services.drop_model(actor=manager, model=detector, reason="x"),
            lambda: engagement_services.set_model_scope(
                actor=manager, model=detector, scope="training", reason="x"),
            lambda: engagement_services.move_stage(
                actor=manager, record=record, move="skip", comment="x")):
        with override("en"), pytest.raises(WrongState, match="change request under “Changes”"):
            write()
    dropping(people, draft, detector)
    in_force(people, draft)
    detector.refresh_from_db()
    assert detector.dropped_at is not None


@pytest.mark.slow
def test_dates_are_those_that_were_signed(people, two_models, draft, llm):
    scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft, **NEW)
    scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft, action="drop_stage",
                                   model=llm, stage="env")
    done = in_force(people, draft)
    drawn = {row["task"]["model"] + row["task"]["stage"]: row
             for row in done.facts["schedule"]["tasks"]}
    assert (drawn["LLMenv"]["after"], drawn["OCRsurvey"]["before"]) == ([], [])
    now = {task.model.code + task.stage: task for task in two_models.plan.tasks.all()}
    stored = {entry["title"]: entry for entry in done.new_baseline.tasks.values()}
    for name in ("OCRsurvey", "LLMtrain_adapt", "OCRaccept"):
        entry = stored[str(now[name])]
        assert [entry["start"], entry["finish"]] == drawn[name]["after"]
    assert "LLMenv" not in now
    assert now["LLMdesign"].followers.filter(after=now["LLMtrain_adapt"]).exists()
    assert two_models.models.get(code="OCR").stages.get(stage="train_adapt").state == "skipped"


def test_a_stage_comes_back_between_its_neighbours(people, two_models, draft, detector):
    scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft, action="add_stage",
                                   model=detector, stage="train_adapt")
    done = in_force(people, draft)
    assert detector.stages.get(stage="train_adapt").state == StageState.NOT_STARTED
    assert ("DET", "train_adapt") in tasks(two_models)
    [row] = done.facts["scope"]["effects"]
    assert (row["days"], row["stage_days"]) == ("5.0", {"train_adapt": "5.0"})


def test_days_go_into_the_lines_of_the_quote(client, people, two_models, detector):
    consultant, quote = people[Role.CONSULTANT], Quote.objects.get()
    made = changes.create_change(actor=consultant, engagement=two_models, quote=quote, **WORDS)
    dropping(people, made, detector)
    client.force_login(consultant)
    for _again in range(2):
        client.post(reverse("planning:change_price_scope", args=[made.pk]))
    [effect] = made.price_effects.all()
    assert sum(line.likely for line in detector.effort_lines.all()) == Decimal("12.5")
    assert effect.line.quantity - effect.quantity == Decimal("1.5")  # a tenth, in half-days
    page = client.get(reverse("planning:change", args=[made.pk])).content.decode()
    assert "-12.50" in page


def test_a_new_model_adds_listed_items(people, two_models):
    consultant = people[Role.CONSULTANT]
    made = changes.create_change(actor=consultant, engagement=two_models,
                                 quote=Quote.objects.get(), **WORDS)
    scope_effects.set_scope_effect(actor=consultant, change=made, **NEW)
    message = scope_effects.price_scope(actor=consultant, change=made)
    assert message == []
    added = sum(e.quantity for e in made.price_effects.filter(action="add"))
    assert added == sum(line.days[1] for line in coming_lines(made.scope_effects.get()))
    again = scope_effects.price_scope(actor=consultant, change=made)
    assert (again, sum(e.quantity for e in made.price_effects.filter(action="add"))) == ([], added)


@pytest.mark.parametrize(("fields", "sentence"), [
    ({"action": "add_model", "code": "LLM", "name": "x"}, "LLM"),
    ({"action": "add_model", "code": " ", "name": "x"}, "code"),
    ({"action": "drop_model"}, "model"), ({"action": "drop_stage"}, "model"),
    ({"action": "drop_stage", "model": "LLM", "stage": "survey"}, "LLM"),
    ({"action": "add_stage", "model": "LLM", "stage": "env"}, "LLM"),
])
def test_what_cannot_be_is_said_at_once(people, draft, llm, fields, sentence):
    if "model" in fields:
        fields = {**fields, "model": llm}
    with override("en"), pytest.raises((InvalidInput, WrongState), match=sentence):
        scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft, **fields)
    assert not draft.scope_effects.exists()


def test_one_effect_per_part(people, draft, llm, two_models):
    dropping(people, draft, llm)
    with pytest.raises(InvalidInput):
        scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft, model=llm,
                                       action="drop_stage", stage="env")
    with pytest.raises(IntegrityError), transaction.atomic():
        ScopeEffect.objects.create(change=draft, action="drop_stage", model=llm)
    change_drafts.remove_effect(actor=people[Role.CONSULTANT], effect=draft.scope_effects.get())
    change_drafts.set_schedule_effect(actor=people[Role.CONSULTANT], change=draft, days_after=9,
                                      task=two_models.plan.tasks.get(model=llm, stage="env"))
    with pytest.raises(WrongState, match="LLM"):
        dropping(people, draft, llm)


def test_nothing_happens_where_a_stage_was_submitted_meanwhile(people, draft, detector):
    dropping(people, draft, detector)
    put = submitted(people, draft)
    changes.approve_change(actor=people[Role.MANAGER], change=put)
    for move in ("start", "submit"):
        engagement_services.move_stage(actor=people[Role.CONSULTANT], move=move,
                                       record=detector.stages.get(stage=Stage.SURVEY))
    before = everything()
    with pytest.raises(WrongState, match="DET"):
        changes.approve_change(actor=people[Role.REVIEWER], change=put)
    assert everything() == before


@pytest.mark.slow
@pytest.mark.parametrize("part", ["add_model", "drop_model"])
def test_nothing_remains_of_a_part_that_fails(people, draft, detector, monkeypatch, part):
    scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft,
                                   **{**NEW, "scope": "full"})
    dropping(people, draft, detector)
    put = submitted(people, draft)
    changes.approve_change(actor=people[Role.MANAGER], change=put)
    before, real = everything(), getattr(engagement_services, part)

    def fail(**kwargs):
        real(**kwargs)
        raise RuntimeError(part)

    with monkeypatch.context() as patched:
        patched.setattr(engagement_services, part, fail)
        with pytest.raises(RuntimeError):
            changes.approve_change(actor=people[Role.REVIEWER], change=put)
    assert everything() == before
    done = changes.approve_change(actor=people[Role.REVIEWER], change=put)
    assert (done.state, MigratedModel.objects.current().count()) == ("applied", 2)


def test_by_page_and_by_api(client, people, draft, detector):
    client.force_login(people[Role.CONSULTANT])
    client.post(reverse("planning:change_effect", args=[draft.pk, "scope"]), NEW)
    path = f"/api/v1/change-requests/{draft.pk}/"
    answer = client.post(path + "scope_effect/", {"action": "drop_model", "model": detector.pk})
    assert [(row["action"], row["code"]) for row in answer.json()["scope_effects"]] == [
        ("add_model", "OCR"), ("drop_model", "")]
    assert not draft.price_effects.exists()
    page = client.get(reverse("planning:change", args=[draft.pk]))
    assert "OCR" in page.content.decode()
    effect = draft.scope_effects.get(action="add_model")
    client.post(reverse("planning:change_effect_remove", args=[draft.pk, "scope", effect.pk]))
    assert ChangeRequest.objects.get().scope_effects.count() == 1
    assert client.post(path + "price_scope/").status_code == 200
    ChangeRequest.objects.update(quote=None)
    assert client.post(path + "price_scope/").status_code == 400


def test_a_scope_effect_brings_its_days_into_the_quote_or_is_not_set(client, people, draft,
                                                                      detector):
    client.force_login(people[Role.CONSULTANT])
    place = reverse("planning:change_effect", args=[draft.pk, "scope"])
    effect = {"action": "drop_model", "model": detector.pk, "scope": "full",
              "is_priced": "on"}
    client.post(place, effect)
    assert (draft.scope_effects.count(), draft.price_effects.exists()) == (1, True)
    draft.scope_effects.all().delete()
    ChangeRequest.objects.update(quote=None)
    with pytest.raises(InvalidInput):
        scope_effects.set_scope(actor=people[Role.CONSULTANT], change=draft, action="drop_model",
                                model=detector, is_priced=True)
    assert draft.scope_effects.count() == 0


def test_the_operation_comes_in_by_a_change_with_its_days_and_task(people, two_models, draft,
                                                                   detector):
    scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft,
                                   action="add_stage", model=detector, stage=Stage.OPERATION)
    done = in_force(people, draft)
    [row] = done.facts["scope"]["effects"]
    assert row["stage_days"] == {"operation": "4.0"}
    assert detector.stages.get(stage=Stage.OPERATION).state == StageState.NOT_STARTED
    assert ("DET", "operation") in tasks(two_models)
    task = two_models.plan.tasks.get(model=detector, stage=Stage.OPERATION)
    assert [link.before.stage for link in task.precursors.all()] == ["accept"]
