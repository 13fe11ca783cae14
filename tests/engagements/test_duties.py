"""Separation of duties: the rule, the firm's setting, and who is missing."""

from types import SimpleNamespace

import pytest
from django.utils.translation import override

from engagements import duties
from engagements.access import Can, allowed
from engagements.duties import Duty, People
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, DutySetting, Role, User
from engagements.services import set_people

THREE = [Duty.AUTHOR, Duty.REVIEWER, Duty.APPROVER]


def rule(code="document", is_settable=True) -> duties.DutyRule:
    return duties.DutyRule(
        code=code, title="Notes", is_settable=is_settable,
        done_by=lambda note: {duty: {person and person.pk} for duty, person in
                              zip(THREE, note.done, strict=True)},
        steps=lambda _note: [
            duties.Step(Duty.REVIEWER, "Review", lambda user: allowed(user, Can.WORK)),
            duties.Step(Duty.APPROVER, "Approve", lambda user: allowed(user, Can.MANAGE))])


def note(engagement, author=None, reviewer=None):
    return SimpleNamespace(engagement=engagement, done=[author, reviewer, None])


@pytest.fixture(autouse=True)
def _english():
    with override("en"):
        yield


@pytest.mark.parametrize(("people_asked", "kept_from"), [
    (People.THREE, {(Duty.AUTHOR, Duty.REVIEWER), (Duty.AUTHOR, Duty.APPROVER),
                    (Duty.REVIEWER, Duty.APPROVER)}),
    (People.REVIEWER_APPROVES, {(Duty.AUTHOR, Duty.REVIEWER), (Duty.AUTHOR, Duty.APPROVER)}),
    (People.AUTHOR_REVIEWS, {(Duty.AUTHOR, Duty.APPROVER), (Duty.REVIEWER, Duty.APPROVER)})])
def test_which_steps_one_person_may_do(people, engagement, people_asked, kept_from):
    """Never all: in no setting does an author approve, nor one person review and approve what he
    wrote."""
    set_people(actor=people[Role.ADMINISTRATOR], kind="document", people=people_asked)
    manager = people[Role.MANAGER]
    for is_settable, expected in ((True, kept_from), (False, {
            (a, b) for a in THREE for b in THREE if THREE.index(a) < THREE.index(b)})):
        found = {(a, b) for a in THREE[:2] for b in THREE[1:] if a != b and duties.conflict(
            rule(is_settable=is_settable), manager,
            note(engagement, **{a: manager}), b)} - {(Duty.REVIEWER, Duty.AUTHOR)}
        assert found == expected


def test_the_refusal_names_who_did_what_and_who_else_may(people, engagement):
    manager, admin = people[Role.MANAGER], people[Role.ADMINISTRATOR]
    found = note(engagement, author=manager)
    with pytest.raises(NotAllowed, match=r"is Manager; Approver must be somebody else\. "
                                         r"People who may do it: Administrator\."):
        duties.separated(rule(), Duty.APPROVER)(manager, found)
    duties.separated(rule(), Duty.APPROVER)(admin, found)
    User.objects.filter(pk=admin.pk).update(is_active=False)
    with pytest.raises(NotAllowed, match=r"Nobody here may do “Approve”.*Administrator, Project"):
        duties.separated(rule(), Duty.APPROVER)(manager, found)


@pytest.mark.parametrize(("here", "setting", "missing"), [
    ([Role.MANAGER], People.THREE, ["Review", "Approve"]),
    ([Role.MANAGER], People.AUTHOR_REVIEWS, ["Approve"]),
    ([Role.MANAGER, Role.CONSULTANT], People.THREE, ["Approve"]),
    ([Role.MANAGER, Role.ADMINISTRATOR], People.THREE, ["Approve"]),  # one for two steps
    ([Role.MANAGER, Role.ADMINISTRATOR], People.REVIEWER_APPROVES, []),
    ([Role.MANAGER, Role.ADMINISTRATOR], People.AUTHOR_REVIEWS, []),
    ([Role.MANAGER, Role.ADMINISTRATOR, Role.CONSULTANT], People.THREE, []),
    ([Role.CONSULTANT, Role.MANAGER], People.THREE, ["Review"])])
def test_who_is_missing_is_said_beforehand(people, engagement, here, setting, missing):
    """The first of `here` is about to submit."""
    set_people(actor=people[Role.ADMINISTRATOR], kind="document", people=setting)
    User.objects.exclude(role__in=here).update(is_active=False)
    found = duties.missing_people(rule(), note(engagement), people[here[0]])
    if here == [Role.CONSULTANT, Role.MANAGER]:  # the manager can do one of both
        assert len(found) == 1
    else:
        assert [sentence.partition("“")[2].partition("”")[0] for sentence in found] == missing


def test_the_page_and_the_api_set_it(client, people):
    client.force_login(people[Role.ADMINISTRATOR])
    client.post("/people/duties/quote/", {"people": "reviewer_approves"})
    page = client.get("/people/duties/").content.decode()
    assert 'value="reviewer_approves" selected' in " ".join(page.split())
    assert AuditEntry.objects.get(action="duties.set").data == {
        "kind": "quote", "people": "reviewer_approves"}
    put = client.put("/api/v1/duties/quote/", {"people": "three"}, content_type="application/json")
    assert put.json() == {"code": "quote", "title": put.json()["title"], "people": "three"}
    assert {row["code"] for row in client.get("/api/v1/duties/").json()} == {"quote", "document"}
    assert DutySetting.objects.get().people == "three"


@pytest.mark.parametrize(("kind", "people_asked"), [("quote", "one"), ("criteria", "three")])
def test_what_cannot_be_set(people, kind, people_asked):
    with pytest.raises(InvalidInput):
        set_people(actor=people[Role.ADMINISTRATOR], kind=kind, people=people_asked)
    with pytest.raises(NotAllowed):
        set_people(actor=people[Role.MANAGER], kind="quote", people="three")
