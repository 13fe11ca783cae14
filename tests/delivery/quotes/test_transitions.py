"""The table of a quote's transitions, for every state, move and person."""

import pytest
from rest_framework.test import APIClient

from delivery.quotes import services
from delivery.quotes.models import Quote
from delivery.quotes.transitions import TRANSITIONS, QuoteMove, allowed_moves
from engagements.errors import DeskError
from engagements.models import Role

S, M = Quote.State, QuoteMove
# State: moves by who asks. "author" is the sales person who wrote the quote, "reviewer" the
# consultant who confirmed it; the manager is neither.
EXPECTED = {
    S.DRAFT: {"author": [M.SUBMIT], "manager": [M.SUBMIT], "administrator": [M.SUBMIT]},
    S.IN_REVIEW: {"author": [M.WITHDRAW], "reviewer": [M.REVIEW, M.RETURN],
                  "manager": [M.REVIEW, M.RETURN], "administrator": [M.REVIEW, M.RETURN]},
    S.REVIEWED: {"author": [M.WITHDRAW], "manager": [M.APPROVE, M.RETURN],
                 "administrator": [M.APPROVE, M.RETURN]},
    S.APPROVED: {"author": [M.ISSUE], "manager": [M.RETURN, M.ISSUE],
                 "administrator": [M.RETURN, M.ISSUE]},
    S.ISSUED: {"customer": [M.ACCEPT, M.DECLINE]},
    S.ACCEPTED: {}, S.DECLINED: {}, S.EXPIRED: {}, S.SUPERSEDED: {},
}


@pytest.fixture
def asking(people):
    return {"author": people[Role.SALES], "reviewer": people[Role.CONSULTANT],
            "manager": people[Role.MANAGER], "administrator": people[Role.ADMINISTRATOR],
            "operator": people[Role.OPERATOR], "customer": people[Role.REVIEWER]}


@pytest.fixture
def in_state(quote, people):
    def moved_to(state: str) -> Quote:
        Quote.objects.filter(pk=quote.pk).update(
            state=state, created_by=people[Role.SALES], reviewed_by=people[Role.CONSULTANT]
            if state not in (S.DRAFT, S.IN_REVIEW) else None)
        return Quote.objects.get(pk=quote.pk)

    return moved_to


def test_every_state_is_expected_and_every_move_in_the_table():
    assert set(EXPECTED) == set(S)
    assert {row.move for row in TRANSITIONS} == set(M)


@pytest.mark.parametrize("state", S.values)
def test_moves_of_each_person(in_state, asking, state):
    found = in_state(state)
    assert {name: allowed_moves(user, found) for name, user in asking.items()} == {
        name: EXPECTED[state].get(name, []) for name in asking}


@pytest.mark.parametrize("state", S.values)
def test_services_refuse_what_the_table_does_not_allow(in_state, asking, state):
    found = in_state(state)
    for user in asking.values():
        for move in set(M.values) - set(allowed_moves(user, found)):
            with pytest.raises(DeskError):
                services.move_quote(actor=user, quote=found, move=move, reason="r")
    found.refresh_from_db()
    assert found.state == state


@pytest.mark.parametrize("name", ["author", "reviewer"])
def test_the_api_names_the_moves(in_state, asking, name):
    found, client = in_state(S.IN_REVIEW), APIClient()
    client.force_authenticate(asking[name])
    answer = client.get(f"/api/v1/quotes/{found.pk}/").json()
    assert answer["allowed_moves"] == EXPECTED[S.IN_REVIEW][name]
