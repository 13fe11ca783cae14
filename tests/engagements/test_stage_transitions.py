"""Whatever people try, a stage is only ever where the table of transitions allows it to be."""

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engagements import gates, services
from engagements.errors import DeskError
from engagements.models import Role, StageRecord, StageTransition, User
from engagements.moves import allowed_moves
from engagements.stages import (
    DONE,
    EXTRA,
    LET_THROUGH,
    NEVER_SKIPPED,
    OUT_OF_SCOPE,
    TRANSITIONS,
    Stage,
    StageMove,
    StageState,
)
from tests.transition_cases import check_coverage, check_state, grid

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


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture,
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
    behind = [s for s in Stage.values if states[s] in DONE and s not in EXTRA] or [ahead]
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
    assert role != Role.CONSULTANT or step in (
        StageMove.START, StageMove.SUBMIT, StageMove.WITHDRAW, StageMove.UNDO_START)
    assert reason or not TRANSITIONS[step].needs_reason
    assert step != StageMove.PASS or is_gate_met
    if step == StageMove.WAIVE:
        assert not is_gate_met
        assert record.waivers.exclude(signed_at=None).filter(revoked_at=None).count() == 1
    if step in (StageMove.PASS, StageMove.WAIVE):
        assert role not in _submitters(record)
    if step == StageMove.WITHDRAW:
        assert not record.waivers.exclude(signed_at=None).filter(revoked_at=None).exists()
    if step == StageMove.UNDO_START:
        moves = list(record.transitions.order_by("pk").values_list("move", flat=True))
        assert moves[-2] == StageMove.START
        assert StageRecord.objects.get(pk=record.pk).started_at is None


def _submitters(record) -> set[str]:
    """Roles of who submitted the stage and did not withdraw that."""
    found = []
    for move in record.transitions.order_by("pk").select_related("actor"):
        if move.move == StageMove.WITHDRAW:
            found.pop()
        if move.move == StageMove.SUBMIT:
            found.append(move.actor.role)
    return set(found)


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
# table has to mean it. A row per move, a column per state, "." where it is not possible.
GRID = """
           not_started in_progress submitted   passed      waived      sent_back   skipped
start      in_progress .           .           .           .           in_progress .
submit     .           submitted   .           .           .           .           .
pass       .           .           passed      .           .           .           .
send_back  .           .           sent_back   sent_back   sent_back   .           .
waive      .           .           waived      .           .           .           .
reopen     .           .           .           in_progress in_progress .           .
skip       skipped     skipped     .           .           .           skipped     .
restore    .           .           .           .           .           .           not_started
withdraw   .           .           in_progress .           .           .           .
undo_start .           not_started .           .           .           .           .
"""


def test_the_table_is_what_was_agreed():
    states, *rows = [line.split() for line in GRID.strip().splitlines()]
    agreed = {(state, move): target for move, *targets in rows
              for state, target in zip(states, targets, strict=True) if target != "."}
    assert {(str(state), str(move)): str(target)
            for state in StageState for move in StageMove
            if (target := TRANSITIONS.target(state, move))} == agreed
    assert {move for move, rule in TRANSITIONS.items() if rule.needs_reason} == {
        "send_back", "reopen", "skip", "restore"}
    assert {move for move, rule in TRANSITIONS.items() if rule.is_decision} == {"pass", "waive"}
    assert {move: rule.takes_back for move, rule in TRANSITIONS.items() if rule.takes_back} == {
        "withdraw": "submit", "undo_start": "start"}
    assert set(NEVER_SKIPPED) == {"survey", "accept"}
    assert {scope: set(out) for scope, out in OUT_OF_SCOPE.items()} == {
        "full": {"operation"}, "training": {"infer_migrate", "infer_tune", "operation"},
        "inference": {"train_adapt", "train_tune", "operation"}}
    assert set(TRANSITIONS) == {move for move, *_targets in rows}


def test_every_state_can_be_left_and_reached():
    reached = {rule.target for rule in TRANSITIONS.values()} | {StageState.NOT_STARTED}
    left = frozenset().union(*(rule.sources for rule in TRANSITIONS.values()))
    assert reached == set(StageState.values) == left


AGREED = grid("""
    not_started: administrator manager = start skip
    not_started: consultant = start
    in_progress: administrator manager = submit skip undo_start
    in_progress: consultant = submit undo_start
    submitted: administrator manager = pass send_back withdraw
    submitted: consultant = withdraw
    passed waived: administrator manager = send_back reopen
    sent_back: administrator manager = start skip
    sent_back: consultant = start
    skipped: administrator manager = restore
""")


@pytest.mark.parametrize("state", StageState.values)
def test_every_move_in_every_state_by_every_role(people, model, state):
    """The gate and the other stages, which may refuse an offered move, let it through here."""
    record = model.stages.get(stage=Stage.DESIGN)
    _set_state(record, state)
    if state == StageState.IN_PROGRESS:
        _log(record, StageMove.START, StageState.NOT_STARTED)
    _check(people, record, AGREED)


# A signed waiver is half a decision: what is let through with it is not withdrawn.
WAIVED = grid("""
    submitted: administrator manager = pass send_back waive
""")


def test_a_submission_with_a_signed_waiver(people, model, submitted, signed):
    record = model.stages.get(stage=Stage.DESIGN)
    record.waivers.add(signed)
    _set_state(record, StageState.SUBMITTED)
    _check(people, record, WAIVED)


def _set_state(record, state):
    model = record.model
    model.stages.filter(stage=Stage.SURVEY).update(state=StageState.PASSED,
                                                   passed_at=timezone.now())
    StageRecord.objects.filter(pk=record.pk).update(
        state=state, passed_at=timezone.now() if state in LET_THROUGH else None)
    record.refresh_from_db()


def _log(record, move, before):
    StageTransition.objects.create(record=record, move=move, from_state=before, at=timezone.now(),
                                   to_state=TRANSITIONS[move].target, actor=User.objects.first())


def _check(people, record, agreed):
    check_state(TRANSITIONS, agreed, people, record, lambda person, row, step: (
        services.move_stage(actor=person, record=row, move=step, comment="原因")),
                f"/api/v1/stages/{record.pk}/")


def test_the_grid_names_every_move():
    check_coverage(TRANSITIONS, AGREED | {("submitted", "who may waive"): WAIVED[
        "submitted", "manager"]}, StageState.values)


@pytest.mark.parametrize(("stage", "step"), [(Stage.SURVEY, StageMove.SKIP),
                                             (Stage.ACCEPT, StageMove.WAIVE)])
def test_no_move_that_the_stage_itself_rules_out(people, model, stage, step):
    record = model.stages.get(stage=stage)
    record.state = next(iter(TRANSITIONS[step].sources))
    assert step not in allowed_moves(people[Role.MANAGER], TRANSITIONS, record)


def test_the_stages_of_a_dropped_model_offer_nothing(people, model):
    record = model.stages.get(stage=Stage.DESIGN)
    record.model.dropped_at = timezone.now()
    assert allowed_moves(people[Role.MANAGER], TRANSITIONS, record) == []
