"""A change of scope: days and price before it is signed; estimate, criteria, plan, quote after."""

from decimal import Decimal

import pytest
from django.urls import reverse

from assessments.models import CriteriaSet, MetricDefinition
from delivery.planning.changes.change_labels import presented
from delivery.planning.effort.usage import current_estimate
from delivery.planning.models import EffortEstimate
from delivery.planning.services import (
    added_criteria,
    change_drafts,
    changes,
    estimates,
    scope_effects,
)
from delivery.quotes.models import Quote
from engagements.errors import InvalidInput, WrongState
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.planning.test_all_or_nothing import breaking_last, everything
from tests.delivery.planning.test_scope_changes import NEW, in_force, submitted


def metric(code):
    return MetricDefinition.objects.get(code=code, version=1)


def likely(estimate):
    return {(str(line.model and line.model.code), line.item): line.likely
            for line in estimate.lines.select_related("model")}


@pytest.fixture
@cached_fixture
def widened(people, draft, detector):
    """OCR comes in with a criterion, DET falls out."""
    consultant = people[Role.CONSULTANT]
    scope_effects.set_scope_effect(actor=consultant, change=draft, **{**NEW, "scope": "full"})
    scope_effects.set_scope_effect(actor=consultant, change=draft, action="drop_model",
                                   model=detector)
    added_criteria.add_criterion(actor=consultant, change=draft, code="OCR", stage="infer_tune",
                                 definition=metric("latency"), threshold=Decimal(25))
    return draft


@pytest.mark.slow
def test_all_four_get_a_version_together(people, two_models, widened):
    before = likely(current_estimate(two_models))
    done = in_force(people, widened)
    after = likely(done.new_estimate)
    assert (done.new_estimate.version, done.new_criteria.version, done.new_baseline.version,
            done.new_quote.version) == (2, 2, 2, 2)
    assert {code for code, _item in after} == {"LLM", "OCR", "None"}
    assert {key: days for key, days in before.items() if key[0] == "LLM"} == {
        key: days for key, days in after.items() if key[0] == "LLM"}
    assert sum(after.values()) - sum(before.values()) == Decimal(done.facts["effort"]["days"])
    rows = done.new_criteria.criteria.values_list("model__code", "definition__code", "threshold")
    assert sorted(rows) == [("LLM", "inference_throughput", 10), ("LLM", "latency", 10),
                            ("OCR", "latency", 25)]
    estimate = done.new_estimate
    assert (estimate.state, estimate.created_by, estimate.approved_by) == (
        EffortEstimate.State.APPROVED, people[Role.CONSULTANT], people[Role.MANAGER])
    assert current_estimate(two_models) == estimate


@pytest.mark.slow
def test_the_next_computation_gives_the_same_days(people, two_models, widened):
    """What was agreed is what the rules give for the models as they are then."""
    done = in_force(people, widened)
    again = estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=two_models)
    assert likely(again) == likely(done.new_estimate)


@pytest.mark.slow
def test_quoted_days_are_the_estimated_ones(people, draft):
    scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft, **NEW)
    done = in_force(people, draft)
    shown = presented(done.facts)["effort"]
    assert shown["quoted"] == Decimal(shown["days"]) > 0
    assert not shown["differs"]


@pytest.mark.slow
def test_an_adjusted_share_moves_by_the_difference(people, two_models, draft, detector):
    made = estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=two_models)
    line = made.lines.get(item="management")
    estimates.adjust_line(actor=people[Role.CONSULTANT], line=line, low=Decimal(20),
                          likely=Decimal(20), high=Decimal(20), reason="两地管理")
    estimates.approve_estimate(actor=people[Role.MANAGER], estimate=made)
    scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=draft, action="drop_model",
                                   model=detector)
    done = in_force(people, draft)
    managed, computed = (done.new_estimate.lines.get(item="management"), [
        Decimal(days) for days in line.computed])
    less = computed[1] - Decimal(managed.computed[1])
    assert less > 0
    assert (managed.likely, managed.reason) == (20 - less, "两地管理")


def test_before_it_is_signed_days_and_price_are_shown(client, people, widened):
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    scope_effects.price_scope(actor=people[Role.CONSULTANT], change=widened)
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("planning:change", args=[widened.pk]))
    facts = page.context["facts"]
    assert facts["effort"]["grades"]
    assert facts["price"]["totals"][2]["difference"] != "0.00"
    assert facts["criteria"]["rows"][-1]["after"] == "≤ 25 ms"
    assert "enters scope" in page.content.decode()


def test_a_model_without_criterion_is_named(client, people, widened):
    change_drafts.remove_effect(actor=people[Role.CONSULTANT], effect=widened.added_criteria.get())
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("planning:change", args=[widened.pk]))
    assert page.context["facts"]["criteria"]["without"] == ["OCR"]


def test_its_criteria_go_with_the_model(people, widened):
    change_drafts.remove_effect(actor=people[Role.CONSULTANT],
                                effect=widened.scope_effects.get(action="add_model"))
    assert not widened.added_criteria.exists()


def test_a_change_of_scope_names_the_quote(people, widened):
    changes.update_change(actor=people[Role.CONSULTANT], change=widened, quote=None)
    with pytest.raises(InvalidInput, match=str(Quote.objects.get())):
        changes.submit_change(actor=people[Role.CONSULTANT], change=widened)


@pytest.mark.slow
def test_days_that_stay_the_same_need_no_quote(people, draft, detector):
    """One inference model for another."""
    consultant = people[Role.CONSULTANT]
    scope_effects.set_scope_effect(actor=consultant, change=draft, **NEW)
    scope_effects.set_scope_effect(actor=consultant, change=draft, action="drop_model",
                                   model=detector)
    with pytest.raises(InvalidInput):
        scope_effects.price_scope(actor=consultant, change=draft)
    changes.update_change(actor=consultant, change=draft, quote=None)
    put = changes.submit_change(actor=consultant, change=draft)
    done = [changes.approve_change(actor=people[role], change=put)
            for role in (Role.MANAGER, Role.REVIEWER)][-1]
    assert (done.facts["effort"], done.new_quote) == ({"days": "0", "grades": []}, None)
    assert done.new_estimate.lines.filter(model__code="OCR").exists()


def test_it_starts_from_agreed_days(people, two_models, widened):
    estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=two_models)
    with pytest.raises(WrongState, match="2"):
        submitted(people, widened)


@pytest.mark.slow
def test_other_days_than_signed_stop_it(people, two_models, widened, detector):
    put = submitted(people, widened)
    changes.approve_change(actor=people[Role.MANAGER], change=put)
    current_estimate(two_models).lines.filter(model=detector, item="survey").update(high=90,
                                                                                    likely=80)
    before = everything()
    with pytest.raises(WrongState, match="-"):
        changes.approve_change(actor=people[Role.REVIEWER], change=put)
    assert everything() == before


@pytest.mark.parametrize(("fields", "error"), [
    ({"code": "NONE"}, WrongState), ({"stage": "train_tune"}, WrongState),
    ({"definition": "score_degradation"}, InvalidInput), ({"definition": "latency"}, InvalidInput)],
    ids=["no such model", "not its stage", "no baseline", "twice"])
def test_a_criterion_that_cannot_be(people, widened, fields, error):
    widened.scope_effects.filter(code="OCR").update(scope="inference")
    definition = metric(fields.pop("definition", "inference_throughput"))
    with pytest.raises(error):
        added_criteria.add_criterion(
            actor=people[Role.CONSULTANT], change=widened, definition=definition,
            **{"code": "OCR", "stage": "infer_tune", "threshold": Decimal(1), **fields})
    assert widened.added_criteria.count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("part", ["agree_on_estimate", "sign_added"])
def test_nothing_remains_of_a_part_that_fails(people, widened, monkeypatch, part):
    from delivery.planning.services import change_application

    put = submitted(people, widened)
    changes.approve_change(actor=people[Role.MANAGER], change=put)
    before = everything()
    where = estimates if part == "agree_on_estimate" else change_application
    with monkeypatch.context() as patched:
        breaking_last(where, part)(patched)
        with pytest.raises(RuntimeError):
            changes.approve_change(actor=people[Role.REVIEWER], change=put)
    assert everything() == before
    changes.approve_change(actor=people[Role.REVIEWER], change=put)
    assert CriteriaSet.objects.filter(state=CriteriaSet.State.SIGNED).get().version == 2


def test_by_page_and_by_api(client, people, widened):
    client.force_login(people[Role.CONSULTANT])
    client.post(reverse("planning:change_effect", args=[widened.pk, "added"]), {
        "code": "OCR", "stage": "infer_tune", "definition": metric("inference_throughput").pk,
        "threshold": "40"})
    path = f"/api/v1/change-requests/{widened.pk}/"
    answer = client.post(path + "added_criterion/", {
        "code": "OCR", "stage": "infer_migrate", "definition": metric("latency").pk,
        "threshold": "9"})
    assert [(row["code"], row["stage"]) for row in answer.json()["added_criteria"]] == [
        ("OCR", "infer_tune"), ("OCR", "infer_tune"), ("OCR", "infer_migrate")]
    page = client.get(reverse("planning:change", args=[widened.pk]))
    assert [row.shown.split()[1] for row in page.context["added_criteria"]] == ["25", "40", "9"]
    row = widened.added_criteria.order_by("pk").last()
    client.post(reverse("planning:change_effect_remove", args=[widened.pk, "added", row.pk]))
    assert not widened.added_criteria.filter(pk=row.pk).exists()
