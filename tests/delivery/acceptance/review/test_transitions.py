"""Every state x action x role of a review: what the guard allows, page and API offer."""

import pytest
from django.utils.translation import override

from delivery.acceptance.models import Review, Signer
from delivery.acceptance.review.transitions import TRANSITIONS, ReviewState
from delivery.acceptance.services.reviews import lock_for_action
from delivery.reports.models import Document
from engagements.errors import WrongState
from engagements.models import Membership, Role
from engagements.moves import allowed_moves
from tests.transition_cases import check_coverage, check_state, grid

pytestmark = pytest.mark.django_db

AGREED = grid("""
    open: reviewer = comment resolve receipts decide decline delegate
    open: administrator manager = comment resolve signers notice deemed
    decided: reviewer = comment resolve receipts decide identify sign decline delegate
    deemed: reviewer = comment resolve receipts decline delegate
    decided deemed: administrator manager = comment resolve signers notice
    open decided deemed: consultant = comment resolve
    signed: reviewer = receipts identify sign
""")
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


@pytest.mark.slow
@pytest.mark.parametrize("state", ReviewState.values)
def test_every_action_in_every_state_by_every_role(in_state, people, state):
    found = in_state(state)
    check_state(TRANSITIONS, AGREED, people, found, lock_for_action,
                f"/api/v1/reviews/{found.pk}/", "actions")


def test_the_grid_names_every_action():
    check_coverage(TRANSITIONS, AGREED, ReviewState.values)


@pytest.mark.parametrize("state", Signer.State.values)
def test_only_the_next_signer_is_offered_to_sign_or_decline(in_state, people, state):
    found, reviewer = in_state("decided"), people[Role.REVIEWER]
    answered = {} if state == "waiting" else {"answered_at": found.opened_at, "reason": "r"}
    Signer.objects.create(review=found, user=people[Role.MANAGER], position=1, state=state,
                          **answered)
    Signer.objects.create(review=found, user=reviewer, position=2)
    offered = {"identify", "sign", "decline"} & set(allowed_moves(reviewer, TRANSITIONS, found))
    assert offered == ({"identify", "sign", "decline"} if state == "signed" else set())


@pytest.mark.parametrize(("state", "action", "sentence"), [
    ("deemed", "decide", "under the contract"), ("open", "sign", "Decide first"),
    ("deemed", "sign", "no signature is needed"), ("replaced", "sign", "sign the latest one"),
    ("replaced", "receipts", "has been replaced"), ("signed", "comment", "signed or replaced"),
])
def test_a_refusal_says_why(in_state, people, state, action, sentence):
    with override("en"), pytest.raises(WrongState, match=sentence):
        lock_for_action(people[Role.REVIEWER], in_state(state), action)
