"""The table of a document's transitions, for every state, move and role."""

import pytest
from django.utils import timezone

from delivery.reports import services
from delivery.reports.models import Document
from delivery.reports.transitions import TRANSITIONS, DocumentMove
from engagements.errors import InvalidInput
from engagements.models import Role, User
from engagements.moves import allowed_moves
from tests.cached_fixtures import cached_fixture
from tests.transition_cases import check_coverage, check_state, grid

M, S = DocumentMove, Document.State
# The manager wrote the document, the consultant reviewed it.
AGREED = grid("""
    draft: administrator manager = discard refresh words submit preview
    draft: consultant sales operator = preview
    in_review: administrator consultant = review hand_over co_sign send_back preview
    in_review: manager = recall preview
    in_review: sales operator = preview
    reviewed: administrator = send_back preview issue
    reviewed: manager = send_back recall preview
    reviewed: consultant sales operator = preview
    issued: administrator manager = correct withdraw
    signed withdrawn: administrator manager = correct
""")
COLLEAGUE = (M.HAND_OVER, M.CO_SIGN)
REASON = (M.SEND_BACK, M.CORRECT, M.WITHDRAW)
SERVICES = {
    M.DISCARD: services.discard_draft, M.REFRESH: services.refresh_draft,
    M.WORDS: services.write_words, M.SUBMIT: services.submit_document,
    M.REVIEW: services.review_document, M.HAND_OVER: services.hand_over_review,
    M.CO_SIGN: services.add_co_signer, M.SEND_BACK: services.send_back_document,
    M.RECALL: services.recall_document, M.PREVIEW: services.order_preview,
    M.ISSUE: services.order_issue, M.CORRECT: services.draft_correction,
    M.WITHDRAW: services.withdraw_document,
}


@pytest.fixture
@cached_fixture
def submitted(delivered, people) -> Document:
    draft = services.draft_document(actor=people[Role.MANAGER], engagement=delivered, kind="PL")
    return services.submit_document(actor=people[Role.MANAGER], document=draft)


@pytest.fixture
def in_state(submitted, people):
    def put(state: str) -> Document:
        if state == S.DRAFT:  # of a kind that a manager writes, not everybody who works there
            return services.draft_test_report(
                actor=people[Role.MANAGER], engagement=submitted.engagement)
        now, consultant = timezone.now(), people[Role.CONSULTANT]
        is_reviewed = state != S.IN_REVIEW
        if is_reviewed:
            submitted.turns.filter(action="review").update(done_by=consultant, done_at=now)
        Document.objects.filter(pk=submitted.pk).update(
            state=state, number="PL-1" if is_reviewed else "", issued_at=now,
            reviewed_by=consultant if is_reviewed else None, reviewed_at=now)
        return Document.objects.get(pk=submitted.pk)

    return put


def make(person: User, document: Document, move: str) -> None:
    more = {"colleague": User.objects.get(role=Role.SALES)} if move in COLLEAGUE else {}
    more |= {"reason": "r"} if move in REASON else {"words": {}} if move == M.WORDS else {}
    SERVICES[move](actor=person, document=document, **more)


@pytest.mark.slow
@pytest.mark.parametrize("state", S.values)
def test_every_move_in_every_state_by_every_role(in_state, people, state):
    found = in_state(state)
    check_state(TRANSITIONS, AGREED, people, found, make, f"/api/v1/documents/{found.pk}/")


def test_the_grid_names_every_move():
    check_coverage(TRANSITIONS, AGREED, S.values)


@pytest.mark.parametrize("state", [S.REVIEWED, S.ISSUED])
def test_a_reason_is_asked_for(in_state, people, state):
    document = in_state(state)
    for move in set(allowed_moves(people[Role.MANAGER], TRANSITIONS, document)) & set(REASON):
        with pytest.raises(InvalidInput):
            SERVICES[move](actor=people[Role.MANAGER], document=document, reason=" ")


def test_a_document_with_a_newer_version_is_not_corrected_again(in_state, people):
    services.draft_correction(actor=people[Role.MANAGER], document=in_state(S.ISSUED), reason="r")
    assert M.CORRECT not in allowed_moves(
        people[Role.MANAGER], TRANSITIONS, Document.objects.get(state=S.ISSUED))
