"""Editions of the shipped questionnaire: installations get the new one, or keep their own."""

import gzip
import json
from pathlib import Path

import pytest

from bundle_verifier.canonical import content_hash
from delivery.surveys.models import QuestionnaireDraft
from delivery.surveys.services import publishing, questionnaire_drafts, start_survey
from delivery.surveys.services.publishing import (
    TEXTS,
    load_standard_questionnaire,
    question_dicts,
    store_version,
)
from delivery.surveys.standard_questionnaire import EARLIER_EDITIONS, standard_questions
from engagements.models import Role

RELEASED = Path(__file__).parents[2] / "upgrade" / "1.0.0.jsonl.gz"


@pytest.fixture
def earlier(db, monkeypatch):
    """An installation that has the edition before, which had a question less."""
    questions = publishing.check_questions(standard_questions())[:-1]
    monkeypatch.setattr(publishing, "EARLIER_EDITIONS", {content_hash(questions)})
    return store_version(None, questions, "DOMAIN 7")


def test_the_next_survey_asks_the_new_edition_and_a_begun_one_keeps_its_own(
        people, engagement, earlier):
    begun = start_survey(actor=people[Role.CONSULTANT], engagement=engagement)
    assert begun.questionnaire.version == 2
    assert question_dicts(begun.questionnaire) == publishing.check_questions(standard_questions())
    assert load_standard_questionnaire() == begun.questionnaire
    earlier.refresh_from_db()
    assert earlier.questions.count() == begun.questionnaire.questions.count() - 1


def test_questions_that_the_firm_changed_stay(people, earlier):
    own = store_version(None, question_dicts(earlier)[:-1], "shorter")
    assert load_standard_questionnaire() == own


def test_an_open_draft_is_not_overtaken(people, earlier, monkeypatch):
    monkeypatch.setattr(publishing, "EARLIER_EDITIONS", frozenset())
    questionnaire_drafts.begin_draft(actor=people[Role.ADMINISTRATOR])
    monkeypatch.setattr(publishing, "EARLIER_EDITIONS", {content_hash(question_dicts(earlier))})
    assert load_standard_questionnaire() == earlier
    QuestionnaireDraft.objects.all().delete()
    assert load_standard_questionnaire().version == 2


def test_the_edition_of_1_0_0_is_known():
    names = (*TEXTS, "number", "is_required", "is_per_model", "options", "condition")
    with gzip.open(RELEASED, "rt") as lines:
        rows = [json.loads(line)[1] for line in lines if line.startswith('["surveys.question"')]
    rows.sort(key=lambda fields: fields["position"])
    assert content_hash([{name: row[name] for name in names} for row in rows]) in EARLIER_EDITIONS
