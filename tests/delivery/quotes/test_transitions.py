"""The table of a quote's transitions, for every state, move and person."""

from datetime import timedelta

import pytest

from delivery.quotes import services
from delivery.quotes.models import Quote
from delivery.quotes.transitions import TRANSITIONS
from engagements.models import Role
from engagements.moves import allowed_moves
from tests.transition_cases import check_coverage, check_state, grid

S = Quote.State
# The sales person wrote the quote, the consultant reviewed it; the manager is neither.
AGREED = grid("""
    draft: administrator manager sales = submit discard
    in_review: sales = withdraw
    in_review: consultant manager administrator = review return
    reviewed: sales = withdraw
    reviewed: manager administrator = approve return
    approved: sales = issue
    approved: manager administrator = return issue
    issued: reviewer = accept decline
    issued: sales manager administrator = revoke
""")


@pytest.fixture
def in_state(quote, people):
    def moved_to(state: str, **columns) -> Quote:
        Quote.objects.filter(pk=quote.pk).update(
            state=state, created_by=people[Role.SALES], reviewed_by=people[Role.CONSULTANT]
            if state not in (S.DRAFT, S.IN_REVIEW) else None, **columns)
        return Quote.objects.get(pk=quote.pk)

    return moved_to


@pytest.mark.slow
@pytest.mark.parametrize("state", S.values)
def test_every_move_in_every_state_by_every_role(in_state, people, state):
    found = in_state(state)
    check_state(TRANSITIONS, AGREED, people, found, lambda person, row, move: services.move_quote(
        actor=person, quote=row, move=move, reason="r"), f"/api/v1/quotes/{found.pk}/")


def test_the_grid_names_every_move():
    check_coverage(TRANSITIONS, AGREED, S.values)


@pytest.mark.parametrize(("state", "role", "left"), [
    (S.REVIEWED, Role.MANAGER, ["return"]), (S.IN_REVIEW, Role.MANAGER, ["review", "return"])])
def test_the_reviewer_does_not_approve(in_state, people, state, role, left):
    found = in_state(state)
    found.reviewed_by = people[role]
    assert allowed_moves(people[role], TRANSITIONS, found) == left


def test_an_expired_quote_is_not_answered(in_state, people):
    found = in_state(S.ISSUED)
    found.valid_until = found.quote_date - timedelta(days=1)
    assert allowed_moves(people[Role.REVIEWER], TRANSITIONS, found) == []
