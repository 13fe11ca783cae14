"""A begun survey is taken over to a newer questionnaire: nothing that was answered is lost."""

import pytest
from django.urls import reverse

from delivery.surveys import services
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.models import Answer, Questionnaire
from delivery.surveys.services import Change, save_answers
from delivery.surveys.services.publishing import (
    current_questionnaire,
    publish_questionnaire,
    question_dicts,
)
from delivery.surveys.services.version_transfer import set_aside
from engagements.errors import NotAllowed, WrongState
from engagements.models import AuditEntry, Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.surveys.conftest import fill

CARBON = {"number": 48, "key": "carbon", "section": "benefit", "section_label": "收益",
          "section_label_en": "Benefit", "label": "能耗目标", "label_en": "Energy target",
          "type": "text", "is_required": True}


def publish(people, *, without=(), extra=(), **changed):
    """The next version: questions left out, added, or with other fields by key."""
    rows = [{**row, **changed.get(row["key"], {})}
            for row in question_dicts(current_questionnaire()) if row["key"] not in without]
    return publish_questionnaire(actor=people[Role.ADMINISTRATOR], questions=[*rows, *extra],
                                 note="next")


@pytest.fixture
@cached_fixture
def answered(survey, people):
    """Every required input, and a remark on one that stays."""
    fill(survey, people[Role.CONSULTANT])
    services.add_comment(actor=people[Role.REVIEWER], survey=survey, name="need", text="见合同")
    return survey


def values(survey):
    return {cell.name: cell.value for cell in Sheet(survey).cells.values()
            if cell.value is not None}


def test_answers_go_along_and_new_questions_are_missing(people, answered):
    before = values(answered)
    target = publish(people, extra=[CARBON])
    found = services.move_to_version(actor=people[Role.CONSULTANT], survey=answered,
                                     version=target.version)
    answered.refresh_from_db()
    assert values(answered) == before
    assert (len(found.kept), found.aside, set_aside(answered)) == (len(before), [], [])
    assert [cell.name for cell in Sheet(answered).missing] == ["carbon"]
    assert Sheet(answered).cells["need"].revision == 1
    assert answered.comments.get().question.questionnaire == target
    entry = AuditEntry.objects.get(action="survey.version")
    assert (entry.data["added"], entry.data["removed"]) == (["carbon"], [])


def test_what_fits_no_more_stays_and_comes_back(people, answered):
    before, actor = values(answered), people[Role.CONSULTANT]
    first = publish(people, without=["need"], risks={"options": [
        {"code": "staff", "label": "人手", "label_en": "Staff"}]})
    found = services.move_to_version(actor=actor, survey=answered, version=first.version)
    answered.refresh_from_db()
    assert {a.question.key for a in found.aside} == {"need", "risks"}
    assert {a.question.key for a in set_aside(answered)} == {"need", "risks"}
    assert "need" not in values(answered)
    again = publish(people, extra=[row for row in question_dicts(Questionnaire.objects.last())
                                   if row["key"] == "need"])
    services.move_to_version(actor=actor, survey=answered, version=again.version)
    answered.refresh_from_db()
    assert values(answered)["need"] == before["need"]
    assert Answer.objects.filter(survey=answered).count() == len(before)


def test_the_newest_answer_counts_where_two_versions_hold_one(people, answered):
    actor = people[Role.CONSULTANT]
    for kind in ("number", "text"):
        target = publish(people, need={"type": kind})
        services.move_to_version(actor=actor, survey=answered, version=target.version)
        answered.refresh_from_db()
        if kind == "number":
            saved = save_answers(actor=actor, survey=answered, changes=[Change("need", "7", 0)])
            assert saved.names == ["need"]
    # as a text again: the number does not go along, the older text must not take its place
    assert "need" not in values(answered)
    assert sorted(a.value for a in set_aside(answered)) == ["7", "说明"]


def test_who_and_when(people, answered, stranger):
    target = publish(people, extra=[CARBON])
    for actor in (people[Role.REVIEWER], people[Role.SALES], stranger):
        with pytest.raises(NotAllowed):
            services.move_to_version(actor=actor, survey=answered, version=target.version)
    with pytest.raises(WrongState):  # another one was published since the page was shown
        services.move_to_version(actor=people[Role.MANAGER], survey=answered, version=1)
    services.submit_survey(actor=people[Role.REVIEWER], survey=answered)
    with pytest.raises(WrongState):
        services.move_to_version(actor=people[Role.MANAGER], survey=answered,
                                 version=target.version)


@pytest.mark.slow
def test_by_page_and_by_api(client, people, answered):
    target = publish(people, without=["need"], extra=[CARBON])
    client.force_login(people[Role.CONSULTANT])
    path = reverse("surveys:newer_version", args=["EP2501"])
    assert path in client.get(reverse("surveys:overview", args=["EP2501"])).content.decode()
    page = client.get(path)
    assert [q.key for q in page.context["transfer"].added] == ["carbon"]
    assert "能耗目标" in page.content.decode()
    endpoint = f"/api/v1/surveys/{answered.pk}/version/"
    assert (client.get(endpoint).json()["removed"],
            client.get(endpoint).json()["aside"][0]["key"]) == (
        ["need"], "need")
    client.post(path, {"version": target.version})
    answered.refresh_from_db()
    assert answered.questionnaire == target
    assert client.post(endpoint, {"version": target.version}).status_code == 409
    page = client.get(reverse("surveys:overview", args=["EP2501"]))
    assert [a.question.key for a in page.context["aside"]] == ["need"]
