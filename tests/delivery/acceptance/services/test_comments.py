"""Comments on figures, answered and settled; what the team notes for itself stays with it."""

import pytest

from delivery.acceptance import services
from delivery.acceptance.models import ReviewComment
from delivery.acceptance.signing.signature_page import signed_facts
from delivery.evidence.bundle.bundle_writer import write_bundle
from delivery.notices.models import Event
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role

SECRET = "客户可能要求降价"


@pytest.fixture
def say(review, people):
    def write(role, text="？", **given):
        return services.comment(actor=people[role], review=review, text=text, **given)

    return write


def criterion_of(review):
    return review.document.engagement.criteria_sets.get().criteria.first()


def test_a_comment_on_a_figure_is_answered_and_settled(say, review, people):
    criterion = criterion_of(review)
    asked = say(Role.REVIEWER, "为什么有尖峰？", criterion=criterion)
    answer = say(Role.CONSULTANT, "学习率预热", answers=asked)
    assert (asked.criterion, asked.model, answer.answers, answer.criterion) == (
        criterion, criterion.model, asked, criterion)
    with pytest.raises(NotAllowed):
        services.resolve_comment(actor=people[Role.CONSULTANT], comment=asked)
    settled = services.resolve_comment(actor=people[Role.REVIEWER], comment=asked)
    assert settled.resolved_by == people[Role.REVIEWER]
    with pytest.raises(WrongState):
        services.resolve_comment(actor=people[Role.REVIEWER], comment=asked)
    say(Role.REVIEWER, "还有一处", answers=answer)  # an answer to an answer joins the exchange
    asked.refresh_from_db()
    assert (asked.resolved_at, asked.replies.count()) == (None, 2)


def test_a_criterion_of_another_document_is_refused(say, review, engagement):
    from assessments.models import Criterion

    other = Criterion.objects.create(
        criteria_set=criterion_of(review).criteria_set, model=criterion_of(review).model,
        definition=criterion_of(review).definition, stage="infer_tune", threshold=1)
    with pytest.raises(InvalidInput):
        say(Role.REVIEWER, criterion=other)


@pytest.mark.slow
def test_internal_comments_are_never_visible_to_the_customer(say, review, people, client, act):
    note = say(Role.MANAGER, SECRET, is_internal=True)
    say(Role.CONSULTANT, SECRET + "！", answers=note)
    assert set(ReviewComment.objects.values_list("is_internal", flat=True)) == {True}
    assert not Event.objects.filter(kind="comment_made").exists()
    with pytest.raises(NotAllowed):
        say(Role.REVIEWER, is_internal=True)
    with pytest.raises(InvalidInput):
        say(Role.REVIEWER, answers=note)
    client.force_login(people[Role.REVIEWER])
    seen = [client.get(f"/documents/{review.document_id}/review/"),
            client.get(f"/api/v1/reviews/{review.pk}/"), client.get("/api/v1/reviews/")]
    assert [SECRET in answer.text for answer in seen] == [False, False, False]
    assert client.post(f"/review-comments/{note.pk}/resolve/").status_code == 404
    client.force_login(people[Role.CONSULTANT])
    assert SECRET in client.get(f"/documents/{review.document_id}/review/").text
    act.decide(review)
    assert SECRET not in str(signed_facts(review))
    with write_bundle(review.document).file.open("rb") as stream:
        assert SECRET.encode() not in stream.read()


def test_pages(say, review, people, client):
    client.force_login(people[Role.REVIEWER])
    url = f"/documents/{review.document_id}/review/"
    criterion = criterion_of(review)
    client.post(url + "comment/", {"criterion": criterion.pk, "text": "请说明"})
    asked = ReviewComment.objects.get()
    client.force_login(people[Role.CONSULTANT])
    client.post(url + "comment/", {"answers": asked.pk, "text": "已说明"})
    client.force_login(people[Role.REVIEWER])
    client.post(f"/review-comments/{asked.pk}/resolve/")
    asked.refresh_from_db()
    assert (asked.criterion, asked.replies.count(), bool(asked.resolved_at)) == (
        criterion, 1, True)
    page = client.get(url).text
    assert page.index("请说明") < page.index("已说明")
