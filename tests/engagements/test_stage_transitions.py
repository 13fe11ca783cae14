"""Whatever people try, a stage is only ever where the table of transitions allows it to be."""

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from engagements import gates, services
from engagements.access import Can, allowed
from engagements.errors import DeskError
from engagements.models import Role, StageRecord, StageTransition
from engagements.services.stage_moves import possible_moves
from engagements.stages import (
    DONE,
    LET_THROUGH,
    NEVER_SKIPPED,
    OUT_OF_SCOPE,
    TRANSITIONS,
    Stage,
    StageMove,
    StageState,
)

FIRM = (Role.CONSULTANT, Role.MANAGER, Role.ADMINISTRATOR)
WHO = (*FIRM, *FIRM, Role.REVIEWER)
# A move of a stage by somebody, with or without a reason; or a waiver, drafted and signed.
ANY = st.tuples(st.sampled_from(Stage.values), st.sampled_from([*StageMove.values, "waiver"]))
# The same for the stage that stands in front, chosen among what its state allows: these get far.
FORWARD = st.integers(0, 11)
MOVES = st.tuples(st.one_of(FORWARD, FORWARD, FORWARD, ANY), st.sampled_from(WHO),
                  st.sampled_from(["原因", "原因", "原因", ""]))


class Undone(Exception):
    """Ends an example, so that the next one begins with fresh stages."""


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture,
                                                  HealthCheck.too_slow])
@given(moves=st.lists(MOVES, min_size=20, max_size=60), is_gate_met=st.booleans())
def test_no_sequence_of_moves_leaves_the_table(people, engagement, moves, is_gate_met):
    result = gates.CheckResult("trial", "Trial", is_gate_met, "x")
    checks, gates._checks = gates._checks, {"trial": lambda record: [result]}
    try:
        with transaction.atomic():
            _walk(people, engagement, moves, is_gate_met)
            raise Undone
    except Undone:
        pass
    finally:
        gates._checks = checks


def _walk(people, engagement, moves, is_gate_met):
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="H",
                               name="h")
    for choice, role, reason in moves:
        stage, step = _forward(model, choice, is_gate_met) if isinstance(choice, int) else choice
        record = model.stages.get(stage=stage)
        before, count = _states(model), StageTransition.objects.count()
        was_done = _try(people, people[role], record, step, reason)
        after = _states(model)
        changed = {s for s in after if after[s] != before[s]}
        if not was_done or step == "waiver":
            assert (changed, StageTransition.objects.count()) == (set(), count)
            continue
        assert TRANSITIONS.target(before[stage], step) == after[stage]
        assert changed == {stage}
        assert StageTransition.objects.count() == count + 1
        _check_move(record, step, role, reason, is_gate_met)
        _check_world(model, after)


def _forward(model, number, is_gate_met) -> tuple[str, str]:
    """A move of the first stage that is not done, or of the last one that is."""
    states = _states(model)
    ahead = next((s for s in Stage.values if states[s] not in DONE), Stage.ACCEPT)
    behind = [s for s in Stage.values if states[s] in DONE] or [ahead]
    stage = behind[-1] if number >= 10 else ahead
    possible = TRANSITIONS.moves_from(states[stage])
    if states[stage] == StageState.SUBMITTED:
        possible = ([StageMove.PASS, StageMove.PASS, StageMove.SEND_BACK] if is_gate_met
                    else [StageMove.WAIVE, "waiver", StageMove.WAIVE, StageMove.SEND_BACK])
    return stage, possible[number % len(possible)]


def _try(people, actor, record, step, reason) -> bool:
    try:
        if step == "waiver":
            waiver = services.draft_stage_waiver(actor=actor, record=record, reason=reason)
            services.sign_stage_waiver(actor=people[Role.REVIEWER], waiver=waiver)
        else:
            services.move_stage(actor=actor, record=record, move=step, comment=reason)
    except DeskError:
        return False
    return True


def _states(model) -> dict[str, str]:
    return dict(model.stages.values_list("stage", "state"))


def _check_move(record, step, role, reason, is_gate_met):
    """What must hold for a move that was made."""
    assert role != Role.REVIEWER
    assert role != Role.CONSULTANT or step in (StageMove.START, StageMove.SUBMIT)
    assert reason or not TRANSITIONS[step].needs_reason
    assert step != StageMove.PASS or is_gate_met
    if step == StageMove.WAIVE:
        assert not is_gate_met
        assert record.waivers.exclude(signed_at=None).filter(revoked_at=None).count() == 1
    if step in (StageMove.PASS, StageMove.WAIVE):
        submitters = record.transitions.filter(move=StageMove.SUBMIT).values_list(
            "actor__role", flat=True)
        assert role not in submitters


def _check_world(model, states):
    """What must hold of all stages of a model after any sequence of moves."""
    order = list(Stage.values)
    for n, stage in enumerate(order):
        if states[stage] in (StageState.IN_PROGRESS, StageState.SUBMITTED, *LET_THROUGH):
            assert all(states[earlier] in DONE for earlier in order[:n])
        if stage in NEVER_SKIPPED:
            assert states[stage] != StageState.SKIPPED
    assert states[Stage.ACCEPT] != StageState.WAIVED
    for record in model.stages.all():
        assert (record.passed_at is not None) == (record.state in LET_THROUGH)


# What may be done with a stage (DOMAIN 2, 9.11), written down a second time: whoever changes the
# table has to mean it. A column per move, "." where it is not possible.
GRID = """
            start       submit    pass    send_back waive  reopen      skip    restore
not_started in_progress .         .       .         .      .           skipped .
in_progress .           submitted .       .         .      .           skipped .
submitted   .           .         passed  sent_back waived .           .       .
passed      .           .         .       sent_back .      in_progress .       .
waived      .           .         .       sent_back .      in_progress .       .
sent_back   in_progress .         .       .         .      .           skipped .
skipped     .           .         .       .         .      .           .       not_started
"""


def test_the_table_is_what_was_agreed():
    moves, *rows = [line.split() for line in GRID.strip().splitlines()]
    agreed = {(state, move): target for state, *targets in rows
              for move, target in zip(moves, targets, strict=True) if target != "."}
    assert {(str(state), str(move)): str(target)
            for state in StageState for move in StageMove
            if (target := TRANSITIONS.target(state, move))} == agreed
    assert {move for move, rule in TRANSITIONS.items() if rule.needs_reason} == {
        "send_back", "reopen", "skip", "restore"}
    assert {move for move, rule in TRANSITIONS.items() if rule.is_decision} == {"pass", "waive"}
    assert set(NEVER_SKIPPED) == {"survey", "accept"}
    assert {scope: set(out) for scope, out in OUT_OF_SCOPE.items()} == {
        "full": set(), "training": {"infer_migrate", "infer_tune"},
        "inference": {"train_adapt", "train_tune"}}
    assert {move for move, rule in TRANSITIONS.items() if rule.permission == Can.WORK} == {
        "start", "submit"}
    assert {rule.permission for rule in TRANSITIONS.values()} == {Can.WORK, Can.MANAGE}
    assert set(TRANSITIONS) == set(moves)


def test_every_state_can_be_left_and_reached():
    reached = {rule.target for rule in TRANSITIONS.values()} | {StageState.NOT_STARTED}
    left = frozenset().union(*(rule.sources for rule in TRANSITIONS.values()))
    assert reached == set(StageState.values) == left


@pytest.mark.parametrize("role", list(Role.values))
@pytest.mark.parametrize("state", list(StageState.values))
def test_the_moves_offered_are_those_of_table_and_role(people, model, state, role):
    record = model.stages.get(stage=Stage.DESIGN)
    StageRecord.objects.filter(pk=record.pk).update(
        state=state, passed_at=timezone.now() if state in LET_THROUGH else None)
    record.refresh_from_db()
    expected = [move for move, rule in TRANSITIONS.items()
                if state in rule.sources and allowed(people[role], rule.permission)
                and move != StageMove.WAIVE]  # without a signed waiver
    assert possible_moves(people[role], record) == expected
    client = APIClient()
    client.force_authenticate(people[role])
    assert client.get(f"/api/v1/stages/{record.pk}/").json()["allowed_moves"] == expected


@pytest.mark.parametrize("role", list(Role.values))
@pytest.mark.parametrize("move", list(StageMove.values))
@pytest.mark.parametrize("state", list(StageState.values))
def test_every_move_in_every_state_by_every_role(people, model, state, move, role):
    """What is not offered is refused; what is, may still be refused by gate or other stages."""
    record = model.stages.get(stage=Stage.DESIGN)
    StageRecord.objects.filter(pk=record.pk).update(
        state=state, passed_at=timezone.now() if state in LET_THROUGH else None)
    record.refresh_from_db()
    offered = possible_moves(people[role], record)
    try:
        made = services.move_stage(actor=people[role], record=record, move=move, comment="原因")
    except DeskError:
        assert move not in offered or move in (StageMove.START, StageMove.PASS)
    else:
        assert (move in offered, made.to_state) == (True, TRANSITIONS[move].target)
