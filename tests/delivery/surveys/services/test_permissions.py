"""The questionnaire as data, answering it, locking, comments, and the steps to confirmation."""

import json

import pytest
from django.urls import reverse
from django.utils.translation import override

from delivery.surveys import services
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.models import AnswerRevision, Comment, Survey
from delivery.surveys.services import Change, publishing, save_answers
from delivery.surveys.standard_questionnaire import standard_questions
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role, StageRecord


def answer(survey, actor, name, raw, revision=0):
    return save_answers(actor=actor, survey=survey, changes=[Change(name, raw, revision)])


def test_all_47_fields_in_both_languages():
    questions = publishing.check_questions(standard_questions())
    assert {q["number"] for q in questions} == set(range(1, 48))
    assert all(q["label"] and q["label_en"] for q in questions)


def test_a_new_version_leaves_begun_surveys_on_theirs(survey, people):
    changed = standard_questions()
    changed[0]["label_en"] = "Customer in full"
    made = publishing.publish_questionnaire(
        actor=people[Role.ADMINISTRATOR], questions=changed, note="wording")
    survey.refresh_from_db()
    assert (made.version, survey.questionnaire.version) == (2, 1)
    with pytest.raises(NotAllowed):
        publishing.publish_questionnaire(actor=people[Role.MANAGER], questions=changed)


@pytest.mark.parametrize(("field", "value"), [
    ("type", "essay"), ("condition", {"nobody": ["x"]}), ("label", ""), ("key", "scope"),
    ("options", [{"code": "a"}]), ("number", "1"), ("condition", {"customer": ["x"]})])
def test_wrong_questions_are_refused_by_name(db, field, value):
    questions = standard_questions()
    questions[0][field] = value
    with pytest.raises(InvalidInput):
        publishing.check_questions(questions)


def test_training_is_asked_only_of_models_that_train(survey):
    asked = {cell.name for cell in Sheet(survey).asked}
    assert "parallel@LLM" in asked
    assert "parallel@HLM" not in asked
    assert {"inference_framework@LLM", "inference_framework@HLM"} <= asked


def test_a_condition_counts_only_while_its_own_question_is_asked(survey, people):
    actor = people[Role.CONSULTANT]
    answer(survey, actor, "precision@LLM", "mixed")
    assert "mixed_method@LLM" in {c.name for c in Sheet(survey).asked}
    answer(survey, actor, "model_scope@LLM", "inference")
    assert "mixed_method@LLM" not in {c.name for c in Sheet(survey).asked}


@pytest.mark.parametrize(("name", "raw", "stored"), [
    ("budget", "1,200.50", "1200.5"), ("deadline", "2026/03/31", "2026-03-31"),
    ("deliverables", "报告；code", ["code", "report"]), ("custom_ops@LLM", "是", "yes"),
    ("tax", "0", "0"), ("need", "  巡检 ", "巡检")])
def test_values_are_stored_in_one_form(survey, people, name, raw, stored):
    answer(survey, people[Role.CONSULTANT], name, raw)
    assert Sheet(survey).cells[name].value == stored


@pytest.mark.parametrize(("name", "raw"), [
    ("budget", "NaN"), ("budget", "-1"), ("budget", "viel"), ("deadline", "2026-02-30"),
    ("chip", "H100"), ("risks", ["none", "data"]), ("need", "x" * 4001), ("need", "a\x00b"),
    ("loss_curve@LLM", "#99999"), ("nobody", "x")])
def test_a_wrong_value_is_said_and_the_others_are_saved(survey, people, name, raw):
    saved = save_answers(actor=people[Role.CONSULTANT], survey=survey, changes=[
        Change(name, raw, 0), Change("goals", "降本", 0)])
    assert (list(saved.errors), saved.names) == ([name], ["goals"])


def test_the_second_writer_is_told_and_nothing_is_overwritten(survey, people):
    consultant, reviewer = people[Role.CONSULTANT], people[Role.REVIEWER]
    answer(survey, consultant, "need", "一")
    answer(survey, consultant, "need", "二", 1)
    saved = answer(survey, reviewer, "need", "三", 1)
    assert [(c.cell.text, c.yours) for c in saved.conflicts] == [("二", "三")]
    assert Sheet(survey).cells["need"].value == "二"
    unchanged = answer(survey, reviewer, "need", "一", 1)
    assert (unchanged.conflicts, Sheet(survey).cells["need"].value) == ([], "二")
    assert answer(survey, reviewer, "need", "三", 2).names == ["need"]
    assert list(AnswerRevision.objects.values_list("value", flat=True)) == ["三", "二", "一"]
    reported = AuditEntry.objects.filter(action="survey.answer").order_by("pk")
    assert [entry.data["need"] for entry in reported] == [[None, "一"], ["一", "二"], ["二", "三"]]


def test_steps_to_confirmation(survey, people):
    from tests.delivery.surveys.conftest import fill

    consultant, reviewer = people[Role.CONSULTANT], people[Role.REVIEWER]
    with pytest.raises(InvalidInput):
        services.submit_survey(actor=reviewer, survey=survey)
    fill(survey, reviewer)
    services.submit_survey(actor=reviewer, survey=survey)
    with pytest.raises(WrongState):
        answer(survey, reviewer, "goals", "x")
    with pytest.raises(NotAllowed):
        services.confirm_survey(actor=reviewer, survey=survey)
    surveys = StageRecord.objects.filter(model__engagement=survey.engagement, stage="survey")
    assert {record.state for record in surveys} == {"not_started"}
    assert services.confirm_survey(actor=consultant, survey=survey).confirmed_by == consultant
    assert {(record.state, record.transitions.get().actor) for record in surveys.all()} == {
        ("in_progress", consultant)}
    for language, reason in (("zh-hans", "调研问卷已确认。"), ("en", "The survey is confirmed.")):
        with override(language):
            assert surveys.first().transitions.get().localized_comment == reason
    services.reopen_survey(actor=consultant, survey=survey)
    assert Survey.objects.get().confirmed_at is None
    assert set(AuditEntry.objects.filter(action__startswith="survey.").values_list(
        "action", flat=True)) == {"survey.start", "survey.answer", "survey.submit",
                                  "survey.confirm", "survey.reopen"}


def test_who_may_answer(survey, people, stranger):
    for role in (Role.SALES, Role.OPERATOR):
        with pytest.raises(NotAllowed):
            answer(survey, people[role], "goals", "x")
    with pytest.raises(NotAllowed):
        answer(survey, stranger, "goals", "x")


def test_internal_comments_stay_inside(survey, people, client):
    for text, internal in (("风险偏高", True), ("请补充", False)):
        services.add_comment(actor=people[Role.CONSULTANT], survey=survey, name="need", text=text,
                             is_internal=internal)
    services.add_comment(actor=people[Role.REVIEWER], survey=survey, name="need", text="好",
                         is_internal=True)
    seen = Comment.objects.visible_to(people[Role.REVIEWER]).values_list("text", flat=True)
    assert list(seen) == ["请补充", "好"]
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("surveys:section", args=["EP2501", "project"])).content.decode()
    assert "请补充" in page
    assert "风险偏高" not in page
    api = client.get(f"/api/v1/surveys/{survey.pk}/comments/").json()["comments"]
    assert [c["text"] for c in api] == ["请补充", "好"]


def test_page_saves_as_a_plain_form(survey, people, client):
    client.force_login(people[Role.REVIEWER])
    place = reverse("surveys:section", args=["EP2501", "project"])
    assert client.post(place, {"a:need": "巡检", "r:need": "0"}).status_code == 302
    assert Sheet(survey).cells["need"].value == "巡检"
    answer_page = client.post(place, {"a:need": "别的", "r:need": "0"})
    assert "巡检" in answer_page.content.decode()
    assert Sheet(survey).cells["need"].value == "巡检"


def test_autosave_returns_only_the_revisions_that_were_written(survey, people, client):
    client.force_login(people[Role.REVIEWER])
    answer(survey, people[Role.CONSULTANT], "goals", "降本")
    place = reverse("surveys:section", args=["EP2501", "project"])
    page = client.post(place, {"a:need": "巡检", "r:need": "0", "a:goals": "", "r:goals": "0"},
                       headers={"HX-Request": "true"}).content.decode()
    assert 'name="r:need" value="1"' in page
    assert "r:goals" not in page
    assert Sheet(survey).cells["goals"].value == "降本"


def test_autosave_brings_the_form_when_other_inputs_are_asked(survey, people, client):
    client.force_login(people[Role.CONSULTANT])
    place = reverse("surveys:section", args=["EP2501", "model"]) + "?model=LLM"
    answered = client.post(place, {"a:custom_ops@LLM": "yes", "r:custom_ops@LLM": "0"},
                           headers={"HX-Request": "true"})
    assert answered["HX-Retarget"] == "#survey-form"
    assert "r:custom_ops_list@LLM" in answered.content.decode()


def test_api_saves_and_reports_conflicts(survey, people, client):
    client.force_login(people[Role.CONSULTANT])
    place = f"/api/v1/surveys/{survey.pk}/answers/"

    def send(value, revision):
        return client.post(place, json.dumps({"changes": [
            {"name": "need", "value": value, "revision": revision}]}), "application/json").json()

    assert send("一", 0)["saved"] == ["need"]
    assert send("二", 0)["conflicts"][0]["stored"] == "一"


def test_versions_are_published_from_json(survey, people, client):
    from django.core.files.uploadedfile import SimpleUploadedFile

    client.force_login(people[Role.ADMINISTRATOR])
    text = client.get(reverse("surveys:version_file", args=[survey.questionnaire_id])).content
    for content, versions in ((text, 2), (b"[", 2), (b"[[[[" * 60_000, 2)):
        client.post(reverse("surveys:version_new"),
                    {"note": "x", "file": SimpleUploadedFile("q.json", content)})
        assert publishing.current_questionnaire().version == versions
