"""Waivers, reopening, separation of duties."""

import json

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from delivery.next_steps import inbox_items
from engagements import gates, services
from engagements.errors import GateNotMet, InvalidInput, NotAllowed, WrongState
from engagements.gates import CheckResult, evaluate
from engagements.models import AuditEntry, Role, StageWaiver
from engagements.services.stage_waivers import waiver_hash
from engagements.stages import Stage, StageMove, StageState
from tests.engagements.conftest import move
from workers.models import Job


def test_a_waiver_is_drafted_signed_by_another_and_used(people, submitted, signed):
    assert {c["code"] for c in signed.checks} == {c.code for c in evaluate(submitted)}
    assert signed.content_hash == waiver_hash(signed)
    move(people, submitted, StageMove.WAIVE)
    submitted.refresh_from_db()
    assert (submitted.state, bool(submitted.passed_at)) == (StageState.WAIVED, True)
    move(people, submitted.model.stages.get(stage=Stage.DESIGN), StageMove.START)
    assert set(AuditEntry.objects.filter(action__startswith="stage_waiver").values_list(
        "action", flat=True)) == {"stage_waiver.draft", "stage_waiver.sign"}


def test_a_waived_stage_is_not_passed(people, submitted, signed, client):
    move(people, submitted, StageMove.WAIVE)
    client.force_login(people[Role.MANAGER])
    page = client.get(reverse("engagements:stage", args=["EP2501", "M", "survey"]))
    assert "desk-step is-waived" in page.content.decode()
    assert submitted.transitions.first().checks[0]["is_met"] is False


def test_a_waiver_lets_pass_the_checks_that_it_names_and_no_other(people, submitted, client):
    manager, (first, *others) = people[Role.MANAGER], [c.code for c in evaluate(submitted)]
    url = reverse("engagements:waiver_draft", args=["EP2501", "M", "survey"])
    with pytest.raises(InvalidInput, match="nothing"):
        services.draft_stage_waiver(actor=manager, record=submitted, reason="x",
                                    checks=["nothing"])
    client.force_login(manager)
    client.post(url, {"reason": "x", "check": [first]})
    waiver = StageWaiver.objects.get()
    assert (waiver.codes, others != []) == ({first}, True)
    services.sign_stage_waiver(actor=people[Role.REVIEWER], waiver=waiver)
    page = reverse("engagements:stage", args=["EP2501", "M", "survey"])
    assert client.get(page, headers={"accept-language": "en"}).content.decode().count(
        "Let pass by the signed waiver") == 1
    with pytest.raises(GateNotMet) as refused:
        move(people, submitted, StageMove.WAIVE)
    assert {check["code"] for check in refused.value.details["checks"]} == {first, *others}
    client.post(url, {"reason": "x"})  # the way out: a waiver of the rest, too
    services.sign_stage_waiver(actor=people[Role.REVIEWER], waiver=StageWaiver.objects.first())
    assert move(people, submitted, StageMove.WAIVE).to_state == StageState.WAIVED


def test_no_waiver_without_reason_right_or_signature(people, submitted):
    manager = people[Role.MANAGER]
    with pytest.raises(InvalidInput):
        services.draft_stage_waiver(actor=manager, record=submitted, reason=" ")
    with pytest.raises(NotAllowed):
        services.draft_stage_waiver(actor=people[Role.CONSULTANT], record=submitted, reason="x")
    with pytest.raises(WrongState):
        move(people, submitted, StageMove.WAIVE)
    waiver = services.draft_stage_waiver(actor=manager, record=submitted, reason="x")
    with pytest.raises(WrongState):
        move(people, submitted, StageMove.WAIVE)
    for role in (Role.MANAGER, Role.CONSULTANT, Role.SALES):
        with pytest.raises(NotAllowed):
            services.sign_stage_waiver(actor=people[role], waiver=waiver)
    services.sign_stage_waiver(actor=people[Role.ADMINISTRATOR], waiver=waiver)
    with pytest.raises(WrongState):
        services.sign_stage_waiver(actor=people[Role.REVIEWER], waiver=waiver)


def test_the_database_refuses_an_own_signature(people, submitted):
    waiver = services.draft_stage_waiver(actor=people[Role.MANAGER], record=submitted, reason="x")
    with pytest.raises(IntegrityError, match="stage_waiver_signed_by_another"), \
            transaction.atomic():
        StageWaiver.objects.filter(pk=waiver.pk).update(
            signed_by=people[Role.MANAGER], signed_at=waiver.drafted_at, content_hash="x")


def test_a_waiver_covers_only_what_it_names(people, submitted, signed):
    StageWaiver.objects.update(checks=[c for c in signed.checks if c["code"] != "checklist"])
    with pytest.raises(GateNotMet) as error:
        move(people, submitted, StageMove.WAIVE)
    assert "checklist" in {c["code"] for c in error.value.details["checks"]}


def test_acceptance_is_not_waived(people, model):
    record = model.stages.get(stage=Stage.ACCEPT)
    record.state = StageState.SUBMITTED
    record.save()
    with pytest.raises(WrongState):
        services.draft_stage_waiver(actor=people[Role.MANAGER], record=record, reason="x")
    StageWaiver.objects.create(  # not even by one that got in some other way
        record=record, reason="x", checks=[c.as_dict() for c in evaluate(record)],
        drafted_by=people[Role.MANAGER], drafted_at=timezone.now(), signed_by=people[Role.REVIEWER],
        signed_at=timezone.now(), content_hash="x")
    with override("en"), pytest.raises(WrongState, match="accept with conditions"):
        move(people, record, StageMove.WAIVE)


def test_a_gate_that_is_met_is_passed_and_not_waived(people, submitted, signed, monkeypatch):
    met = CheckResult("trial", "Trial", True, "")
    monkeypatch.setattr(gates, "_checks", {"trial": lambda record: [met]})
    with override("en"), pytest.raises(WrongState, match="no waiver is needed"):
        move(people, submitted, StageMove.WAIVE)
    move(people, submitted, StageMove.PASS)


def test_the_stages_of_a_dropped_model_do_not_move(people, model):
    services.drop_model(actor=people[Role.MANAGER], model=model, reason="x")
    record = model.stages.get(stage=Stage.DESIGN)
    with override("en"), pytest.raises(WrongState, match="was dropped"):
        move(people, record, StageMove.RESTORE, comment="x")


def test_reopening_needs_a_reason_and_ends_the_waiver(people, submitted, signed):
    move(people, submitted, StageMove.WAIVE)
    with pytest.raises(InvalidInput):
        move(people, submitted, StageMove.REOPEN)
    move(people, submitted, StageMove.REOPEN, comment="客户补充了资料")
    submitted.refresh_from_db()
    signed.refresh_from_db()
    assert (submitted.state, submitted.passed_at) == (StageState.IN_PROGRESS, None)
    assert signed.revoked_by == people[Role.MANAGER]


def test_a_stage_that_others_build_on_is_not_reopened(people, submitted, signed):
    move(people, submitted, StageMove.WAIVE)
    move(people, submitted.model.stages.get(stage=Stage.DESIGN), StageMove.START)
    with pytest.raises(WrongState):
        move(people, submitted, StageMove.REOPEN, comment="x")


def test_who_submitted_does_not_let_it_through(people, model):
    record = model.stages.get(stage=Stage.SURVEY)
    move(people, record, StageMove.START, Role.CONSULTANT)
    move(people, record, StageMove.SUBMIT, Role.MANAGER)
    waiver = services.draft_stage_waiver(actor=people[Role.ADMINISTRATOR], record=record,
                                         reason="x")
    services.sign_stage_waiver(actor=people[Role.REVIEWER], waiver=waiver)
    for step in (StageMove.PASS, StageMove.WAIVE):
        with pytest.raises(NotAllowed):
            move(people, record, step, Role.MANAGER)
    move(people, record, StageMove.WAIVE, Role.ADMINISTRATOR)


def test_who_tuned_does_not_let_it_through(people, submitted, signed, client):
    Job.objects.create(kind="acc.compare", engagement=submitted.engagement, model=submitted.model,
                       stage=submitted.stage, created_by=people[Role.MANAGER])
    with pytest.raises(NotAllowed):
        move(people, submitted, StageMove.WAIVE)
    client.force_login(people[Role.MANAGER])
    page = client.get(reverse("engagements:stage", args=["EP2501", "M", "survey"]))
    assert len(page.context["involvement"]) == 1


def test_the_waiver_waits_on_the_desk_and_is_signed_on_the_page(people, submitted, client):
    waiver = services.draft_stage_waiver(actor=people[Role.MANAGER], record=submitted, reason="x")
    kinds = {role: [w.kind for w in inbox_items(people[role]) if w.kind == "waiver"]
             for role in (Role.MANAGER, Role.REVIEWER, Role.CONSULTANT)}
    assert kinds == {Role.MANAGER: [], Role.REVIEWER: ["waiver"], Role.CONSULTANT: []}
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("engagements:stage", args=["EP2501", "M", "survey"]))
    assert page.context["waivers"][0]["may_sign"]
    client.post(reverse("engagements:waiver_end", args=["EP2501", "M", "survey", waiver.pk,
                                                        "sign"]))
    waiver.refresh_from_db()
    assert waiver.signed_by == people[Role.REVIEWER]


def test_waivers_over_the_api(people, submitted, client, stranger):
    client.force_login(people[Role.MANAGER])
    made = client.post(f"/api/v1/stages/{submitted.pk}/waiver/", json.dumps({"reason": "x"}),
                       "application/json")
    assert made.status_code == 201
    place = f"/api/v1/stage-waivers/{made.json()['id']}/"
    assert client.post(place + "sign/").status_code == 403
    client.force_login(people[Role.REVIEWER])
    assert client.post(place + "sign/").json()["content_hash"]
    client.force_login(people[Role.MANAGER])
    assert client.post(place + "revoke/").json()["revoked_at"]
    client.force_login(stranger)
    assert client.get(place).status_code == 404
