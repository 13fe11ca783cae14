"""One move for many models: each is logged, and each that stays says why."""

import pytest
from django.urls import reverse

from engagements.errors import NotAllowed
from engagements.models import AuditEntry, Engagement, Role, StageRecord
from engagements.services import add_model, move_stage, move_stages
from engagements.stages import Stage, StageState
from tests.cached_fixtures import cached_fixture


@pytest.fixture
@cached_fixture
def surveys(people, engagement, llm, detector):
    """The survey stages of two models, one of them begun already."""
    records = list(StageRecord.objects.filter(stage=Stage.SURVEY).order_by("model__position"))
    move_stage(actor=people[Role.CONSULTANT], record=records[1], move="start")
    return records


def states(surveys):
    return [StageRecord.objects.get(pk=record.pk).state for record in surveys]


def test_what_can_move_does_and_the_rest_says_why(people, surveys):
    entries = AuditEntry.objects.count()
    done = move_stages(actor=people[Role.CONSULTANT], records=surveys, move="start")
    assert [row.record.model.code for row in done.moved] == ["LLM"]
    [refused] = done.refused
    assert refused.record.model.code == "DET"
    assert str(StageState.IN_PROGRESS.label) in refused.sentence
    assert states(surveys) == [StageState.IN_PROGRESS] * 2
    assert AuditEntry.objects.count() == entries + 1
    assert AuditEntry.objects.order_by("pk").last().action == "stage.start"


def test_an_open_gate_is_named_per_model(people, surveys):
    consultant, manager = people[Role.CONSULTANT], people[Role.MANAGER]
    move_stages(actor=consultant, records=surveys[:1], move="start")
    assert len(move_stages(actor=consultant, records=surveys, move="submit").moved) == 2
    done = move_stages(actor=manager, records=surveys, move="pass")
    assert done.moved == []
    assert [row.record.model.code for row in done.refused] == ["LLM", "DET"]
    assert states(surveys) == [StageState.SUBMITTED] * 2
    back = move_stages(actor=manager, records=surveys, move="send_back", comment="缺数据")
    assert [row.comment for row in back.moved] == ["缺数据"] * 2


def test_who_may_not_moves_nothing(people, surveys):
    with pytest.raises(NotAllowed):
        move_stages(actor=people[Role.CONSULTANT], records=surveys, move="pass")


def test_by_page_all_that_fit_the_filter(client, people, surveys):
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("planning:board"), {"state": "not_started"})
    assert [move.value for move in page.context["moves"]] == ["start", "submit"]
    answer = client.post(reverse("planning:board_move") + "?state=not_started",
                         {"move": "start", "all": "yes"}, follow=True)
    assert answer.redirect_chain == [(reverse("planning:board") + "?state=not_started", 302)]
    assert states(surveys) == [StageState.IN_PROGRESS] * 2
    assert 'action="/undo/"' in answer.content.decode()
    answer = client.post(reverse("planning:board_move"), {
        "move": "start", "record": [record.pk for record in surveys]})
    assert (answer.context["done"].moved, len(answer.context["done"].refused)) == ([], 2)
    assert client.post(reverse("planning:board_move"), {"move": "skip"}).status_code == 404


def test_no_start_is_taken_or_offered_before_the_turn_of_a_stage(client, people, surveys):
    client.force_login(people[Role.CONSULTANT])
    early = StageRecord.objects.get(model=surveys[0].model_id, stage=Stage.DESIGN)
    answer = client.post(reverse("planning:board_move"), {"move": "start", "record": early.pk},
                         headers={"accept-language": "en"})
    assert [row.sentence for row in answer.context["done"].refused] == [
        "Survey has not passed yet."]
    assert states([early]) == [StageState.NOT_STARTED]
    place = reverse("engagements:engagement", args=[surveys[0].engagement.code])
    page = client.get(place)
    assert [move.value for move in page.context["stage_moves"]] == ["start", "submit"]
    later = StageRecord.objects.exclude(stage=Stage.SURVEY).exclude(state=StageState.SKIPPED)
    assert page.content.decode().count(" data-early ") == later.count() > 0
    move_stage(actor=people[Role.CONSULTANT], record=surveys[0], move="start")
    assert [move.value for move in client.get(place).context["stage_moves"]] == ["submit"]


def test_strangers_move_nothing(client, stranger, surveys):
    client.force_login(stranger)
    answer = client.post(reverse("planning:board_move"), {
        "move": "start", "record": [record.pk for record in surveys]})
    assert answer.context["done"].moved == []
    path = "/api/v1/stages/bulk_move/"
    body = {"move": "start", "records": [surveys[0].pk]}
    assert client.post(path, body, content_type="application/json").status_code == 404
    assert states(surveys)[0] == StageState.NOT_STARTED


def test_board_and_move_by_api(client, people, surveys):
    client.force_login(people[Role.CONSULTANT])
    rows = client.get("/api/v1/board/", {"state": "not_started"}).json()["results"]
    assert [(row["code"], row["stage"], row["record"]) for row in rows] == [
        ("LLM", "survey", surveys[0].pk)]
    answer = client.post("/api/v1/stages/bulk_move/", {
        "move": "start", "records": [record.pk for record in surveys]},
        content_type="application/json").json()
    assert answer["moved"] == [surveys[0].pk]
    assert [(row["record"], row["model"]) for row in answer["refused"]] == [
        (surveys[1].pk, "DET")]
    client.force_login(people[Role.REVIEWER])
    assert client.get("/api/v1/board/").status_code == 403


@pytest.mark.slow
def test_fifty_models_at_once(people, engagement: Engagement):
    manager = people[Role.MANAGER]
    for n in range(50):
        add_model(actor=manager, engagement=engagement, code=f"M{n:02}", name="模型")
    records = StageRecord.objects.filter(stage=Stage.SURVEY).select_related("model__engagement")
    done = move_stages(actor=people[Role.CONSULTANT], records=records, move="start")
    assert (len(done.moved), done.refused) == (50, [])
    assert AuditEntry.objects.filter(action="stage.start").count() == 50
