"""Administrators make the next version of the questionnaire."""

import pytest
from django.urls import reverse

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences import CountedAnswers, compare
from delivery.surveys.consequences.question_keys import FOLLOWED
from delivery.surveys.draft_differences import differences
from delivery.surveys.models import Questionnaire, QuestionnaireDraft
from delivery.surveys.readiness import readiness
from delivery.surveys.services import questionnaire_drafts
from delivery.surveys.services.publishing import current_questionnaire, question_dicts
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role
from tests.cached_fixtures import cached_fixture

NEW = {"number": 48, "key": "carbon", "section": "benefit", "section_label": "收益",
       "section_label_en": "Benefit", "label": "能耗目标", "label_en": "Energy target",
       "type": "choice", "unit": "", "options": "low = 低 | low\nhigh = 高 | high",
       "help": "", "help_en": "", "condition": "model_scope = full, training", "after": "benefit"}


@pytest.fixture
def admin(people):
    return people[Role.ADMINISTRATOR]


@pytest.fixture
@cached_fixture
def draft(admin, survey):
    return questionnaire_drafts.begin_draft(actor=admin)


def keys():
    return [q["key"] for q in QuestionnaireDraft.objects.get().questions]


def test_a_draft_begins_as_the_newest_version(draft, admin):
    assert differences(question_dicts(draft.base), draft.questions) == []
    assert questionnaire_drafts.begin_draft(actor=admin) == draft
    with pytest.raises(InvalidInput):
        questionnaire_drafts.publish_draft(actor=admin, seen=0, note="x")


def test_a_question_is_added_changed_moved_and_published(draft, admin, survey, client):
    client.force_login(admin)
    page = client.post(reverse("surveys:draft_question_new"), {**NEW, "seen": "0"})
    assert page.status_code == 302
    assert keys()[-2:] == ["benefit", "carbon"]
    client.post(reverse("surveys:draft_edit", args=["carbon", "up"]), {"seen": "1"})
    assert keys()[-2:] == ["carbon", "benefit"]
    edited = {**NEW, "label_en": "Energy", "is_required": "on", "seen": "2"}
    client.post(reverse("surveys:draft_question", args=["carbon"]), edited)
    client.post(reverse("surveys:draft_end", args=["publish"]), {"seen": "3", "note": "能耗"})
    newest = current_questionnaire()
    made = newest.questions.get(key="carbon")
    assert (newest.version, made.label_en, made.is_required, made.condition) == (
        2, "Energy", True, {"model_scope": ["full", "training"]})
    assert made.options[1] == {"code": "high", "label": "高", "label_en": "high"}
    survey.refresh_from_db()
    assert survey.questionnaire.version == 1
    assert not QuestionnaireDraft.objects.exists()


def test_differences_name_questions_and_fields(draft):
    after = [dict(q) for q in draft.questions if q["key"] != "benefit"]
    after[1]["label_en"] = "Need"
    found = {row["key"]: row for row in differences(question_dicts(draft.base), after)}
    assert found["benefit"]["what"] == "removed"
    assert found["need"]["fields"] == [("label_en", "Business need and scenario", "Need")]


@pytest.mark.parametrize("field", [
    {"condition": "nobody = x"}, {"condition": "model_scope = moon"}, {"condition": "need = x"},
    {"condition": "carbon = low"}, {"options": ""}, {"options": "a = 甲\na = 乙"},
    {"key": "need"}, {"number": "0"}, {"label_en": " "}, {"type": "essay"}])
def test_a_wrong_question_is_refused_in_the_form(draft, admin, client, field):
    client.force_login(admin)
    page = client.post(reverse("surveys:draft_question_new"), {**NEW, **field, "seen": "0"})
    assert page.status_code == 200
    assert page.context["form"].errors
    assert "carbon" not in keys()


def test_a_question_that_another_one_needs_is_not_removed(draft, admin):
    with pytest.raises(InvalidInput):
        questionnaire_drafts.remove_question(actor=admin, seen=0, key="model_scope")
    questionnaire_drafts.remove_question(actor=admin, seen=0, key="goals")
    assert "goals" not in keys()


def test_the_second_editor_is_told(draft, admin):
    questionnaire_drafts.remove_question(actor=admin, seen=0, key="goals")
    with pytest.raises(WrongState):
        questionnaire_drafts.remove_question(actor=admin, seen=0, key="benefit")
    questionnaire_drafts.discard_draft(actor=admin, seen=1)
    assert Questionnaire.objects.count() == 1


def test_only_administrators(draft, people):
    for role in (Role.MANAGER, Role.CONSULTANT, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            questionnaire_drafts.begin_draft(actor=people[role])
        with pytest.raises(NotAllowed):
            questionnaire_drafts.remove_question(actor=people[role], seen=0, key="goals")


def test_the_marked_keys_are_those_that_something_follows_from(complete, monkeypatch):
    read, value = set(), CountedAnswers.value

    def noted(self, key, model=None):
        read.add(key)
        return value(self, key, model)

    monkeypatch.setattr(CountedAnswers, "value", noted)
    sheet = Sheet(complete)
    compare(sheet)
    readiness(sheet)
    assert read == FOLLOWED
