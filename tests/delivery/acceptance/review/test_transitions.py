"""Every state x action x role of a review: what the guard allows, page and API offer."""

from itertools import product

import pytest
from django.utils.translation import override
from rest_framework.test import APIClient

from delivery.acceptance.models import Review
from delivery.acceptance.review.transitions import ReviewAction, ReviewState, allowed_actions
from delivery.acceptance.services.preconditions import require_action
from delivery.reports.models import Document
from engagements.errors import NotAllowed, WrongState
from engagements.models import Membership, Role

pytestmark = pytest.mark.django_db

TALK = {"comment", "resolve"}
OF_REVIEWER = {
    "open": TALK | {"receipts", "decide", "decline"},
    "decided": TALK | {"receipts", "identify", "sign", "decline"},
    "deemed": TALK | {"receipts", "decline"},
    "signed": {"receipts", "identify", "sign"},
    "replaced": set(),
}
OF_MANAGER = {
    "open": TALK | {"signers", "notice", "deemed"},
    "decided": TALK | {"signers", "notice"},
    "deemed": TALK | {"signers", "notice"},
    "signed": set(),
    "replaced": set(),
}
OF_CONSULTANT = {state: TALK & actions for state, actions in OF_MANAGER.items()}
EXPECTED = {
    Role.ADMINISTRATOR: OF_MANAGER, Role.MANAGER: OF_MANAGER, Role.REVIEWER: OF_REVIEWER,
    Role.CONSULTANT: OF_CONSULTANT, Role.SALES: {}, Role.OPERATOR: {},
}
COLUMNS = {  # state of the document, decision
    "open": ("issued", ""), "decided": ("issued", "accepted"), "deemed": ("issued", "deemed"),
    "signed": ("signed", "accepted"), "replaced": ("superseded", "accepted"),
}


@pytest.fixture
def in_state(review, people):
    """Put the review into a state, past the services; every role is a member."""
    engagement = review.document.engagement
    for role, user in people.items():
        Membership.objects.get_or_create(engagement=engagement, user=user,
                                         defaults={"role": role})

    def put(state: str) -> Review:
        document_state, decision = COLUMNS[state]
        Document.objects.filter(pk=review.document_id).update(state=document_state)
        Review.objects.filter(pk=review.pk).update(decision=decision, decided_at=review.opened_at)
        return Review.objects.select_related("document__engagement").get(pk=review.pk)

    return put


@pytest.mark.parametrize("state", ReviewState.values)
def test_guard_and_offer_agree_with_the_table(in_state, people, state):
    found = in_state(state)
    for role, action in product(people, ReviewAction.values):
        is_expected = action in EXPECTED[role].get(state, ())
        try:
            require_action(people[role], found, action)
            is_allowed = True
        except (NotAllowed, WrongState):
            is_allowed = False
        is_offered = action in allowed_actions(people[role], found)
        assert (role, action, is_allowed, is_offered) == (role, action, is_expected, is_expected)


@pytest.mark.parametrize("state", ReviewState.values)
def test_the_api_names_the_actions(in_state, people, state):
    found, client = in_state(state), APIClient()
    client.force_authenticate(people[Role.REVIEWER])
    shown = client.get(f"/api/v1/reviews/{found.pk}/").json()
    assert set(shown["actions"]) == OF_REVIEWER[state]


@pytest.mark.parametrize(("state", "action", "sentence"), [
    ("decided", "decide", "made once"), ("open", "sign", "Decide first"),
    ("deemed", "sign", "nobody signs it"), ("replaced", "sign", "sign the newest one"),
    ("replaced", "receipts", "was replaced"), ("signed", "comment", "signed or was replaced"),
])
def test_a_refusal_says_why(in_state, people, state, action, sentence):
    with override("en"), pytest.raises(WrongState, match=sentence):
        require_action(people[Role.REVIEWER], in_state(state), action)
