"""The tables of change requests, timesheets and weekly reports: every state, move and role."""

from datetime import date
from functools import partial

import pytest
from django.utils import timezone

from delivery.planning.changes import proposal_transitions as change_proposal
from delivery.planning.changes import transitions as change
from delivery.planning.control import transitions as weekly
from delivery.planning.models import ChangeProposal, ChangeRequest, Timesheet, WeeklyReport
from delivery.planning.services import (
    change_proposals,
    changes,
    timesheets,
    weekly_reports,
)
from delivery.planning.time import transitions as timesheet
from engagements.models import Role
from engagements.moves import allowed_moves
from tests.transition_cases import check_coverage, check_state, grid

# The consultant wrote the change request.
CHANGES = grid("""
    draft: administrator manager consultant = submit
    submitted: administrator manager reviewer = approve reject
    submitted: consultant = withdraw
    applied: administrator manager consultant = result
""")
PROPOSALS = grid("""
    open: administrator manager = convert answer decline
    open: consultant = convert answer
    open: reviewer = withdraw
""")
TIMESHEETS = grid("""
    submitted: reviewer = confirm reject
    submitted: administrator manager = withdraw
""")
WEEKLY = grid("""
    draft: administrator manager = update refresh freeze
    draft: consultant = update refresh
    frozen: administrator manager = correct
""")


def test_the_grids_name_every_move():
    check_coverage(change.TRANSITIONS, CHANGES, ChangeRequest.State.values)
    check_coverage(change_proposal.TRANSITIONS, PROPOSALS, ChangeProposal.State.values)
    check_coverage(timesheet.TRANSITIONS, TIMESHEETS, Timesheet.State.values)
    check_coverage(weekly.TRANSITIONS, WEEKLY, WeeklyReport.State.values)


def change_in(engagement, author, state: str, **columns) -> ChangeRequest:
    """Its facts, frozen when it was submitted, move no end of the contract."""
    now = timezone.now()
    approvals = {"firm_approved_at": now, "customer_approved_at": now, "applied_at": now}
    return ChangeRequest.objects.create(
        engagement=engagement, number=1, title="x", category="scope", requested_by="x", reason="x",
        before="x", after="x", effect_on_quality="x", created_by=author, state=state,
        content_hash="0" * 64, facts={"schedule": {}},
        **(approvals if state == "applied" else {}), **columns)


def move_change(person, row, move):
    more = {"reject": {"reason": "r"}, "result": {"result": "r"}}.get(move, {})
    service = {"submit": changes.submit_change, "approve": changes.approve_change,
               "reject": changes.reject_change, "withdraw": changes.withdraw_change,
               "result": changes.record_result}[move]
    service(actor=person, change=row, **more)


@pytest.mark.parametrize("state", ChangeRequest.State.values)
def test_changes(people, engagement, state):
    row = change_in(engagement, people[Role.CONSULTANT], state)
    check_state(change.TRANSITIONS, CHANGES, people, row, move_change,
                f"/api/v1/change-requests/{row.pk}/")


def test_who_wrote_a_change_does_not_decide_and_no_side_approves_twice(people, engagement):
    manager, reviewer = people[Role.MANAGER], people[Role.REVIEWER]
    row = change_in(engagement, manager, "submitted", customer_approved_at=timezone.now())
    assert allowed_moves(manager, change.TRANSITIONS, row) == ["withdraw"]
    assert allowed_moves(reviewer, change.TRANSITIONS, row) == ["reject"]


def move_proposal(person, row, move):
    service, words = {
        "convert": (change_proposals.convert_proposal, {"before": "b"}),
        "answer": (change_proposals.answer_proposal, {"answer": "a"}),
        "decline": (change_proposals.decline_proposal, {"reason": "r"}),
        "withdraw": (change_proposals.withdraw_proposal, {})}[move]
    service(actor=person, proposal=row, **words)


@pytest.mark.parametrize("state", ChangeProposal.State.values)
def test_proposals(people, engagement, state):
    """The reviewer proposed it."""
    manager, is_ended = people[Role.MANAGER], state not in ("open", "withdrawn")
    row = change_proposals.raise_proposal(
        actor=people[Role.REVIEWER], engagement=engagement, title="t", category="scope",
        description="d", reason="r")
    ChangeProposal.objects.filter(pk=row.pk).update(
        state=state, answer="a" if is_ended else "",
        change=change_in(engagement, manager, "draft") if state == "converted" else None,
        answered_by=manager if is_ended else None, answered_at=timezone.now() if is_ended else None)
    row.refresh_from_db()
    check_state(change_proposal.TRANSITIONS, PROPOSALS, people, row, move_proposal,
                f"/api/v1/change-proposals/{row.pk}/")


def move_timesheet(person, row, move):
    answer = partial(timesheets.answer_timesheet, is_confirmed=move == "confirm")
    service = timesheets.withdraw_timesheet if move == "withdraw" else answer
    service(actor=person, timesheet=row, reason="r")


@pytest.mark.parametrize("state", Timesheet.State.values)
def test_timesheets(people, engagement, state):
    manager = people[Role.MANAGER]
    row = Timesheet.objects.create(
        engagement=engagement, month=date(2025, 9, 1), number=1, state=state, confirmed_by=manager,
        answered_by=manager, answered_at=timezone.now())
    check_state(timesheet.TRANSITIONS, TIMESHEETS, people, row, move_timesheet,
                f"/api/v1/timesheets/{row.pk}/")


def move_weekly(person, row, move):
    service = {"update": weekly_reports.update_weekly, "refresh": weekly_reports.refresh_weekly,
               "freeze": weekly_reports.freeze_weekly,
               "correct": partial(weekly_reports.correct_weekly, reason="r")}[move]
    service(actor=person, report=row)


@pytest.mark.parametrize("state", WeeklyReport.State.values)
def test_weekly_reports(people, engagement, state):
    row = WeeklyReport.objects.create(
        engagement=engagement, week_start=date(2025, 9, 22), written_by=people[Role.CONSULTANT],
        summary="x", state=state, frozen_at=timezone.now(), content_hash="0" * 64)
    check_state(weekly.TRANSITIONS, WEEKLY, people, row, move_weekly,
                f"/api/v1/weekly-reports/{row.pk}/")
