"""The survey's pages: at most ten, nothing typed is lost on the way, models share answers."""

import pytest
from django.urls import reverse

from delivery.surveys import services
from delivery.surveys.answer_sheet import MOST_PAGES, Sheet
from delivery.surveys.services import Change
from engagements.models import Role


def test_at_most_ten_pages_hold_every_section_once(survey):
    sheet = Sheet(survey)
    pages = sheet.pages()
    assert len(pages) <= MOST_PAGES
    assert [part["code"] for page in pages for part in page["sections"]] == [
        section["code"] for section in sheet.sections() if section["asked"]]
    assert sum(page["asked"] for page in pages) == sheet.progress()["asked"]


def test_going_to_the_next_page_saves_what_was_typed(survey, people, client):
    client.force_login(people[Role.REVIEWER])
    first, second = (page["code"] for page in Sheet(survey).pages()[:2])
    answer = client.post(reverse("surveys:section", args=["EP2501", first]),
                         {"a:need": "巡检", "r:need": "0", "go": second})
    assert answer.url == reverse("surveys:section", args=["EP2501", second])
    assert Sheet(survey).cells["need"].value == "巡检"


def test_known_facts_are_offered_and_stored_only_with_the_page(survey, people, client):
    survey.engagement.models.update(name="巡检模型")
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("surveys:section", args=["EP2501", "model"])).content.decode()
    assert "巡检模型" in page.split('name="a:model_name@LLM"')[1].split("</textarea>")[0]
    assert Sheet(survey).cells["model_name@LLM"].value is None


@pytest.mark.slow
def test_answers_are_copied_where_a_model_has_none(survey, people, client):
    actor = people[Role.CONSULTANT]
    services.save_answers(actor=actor, survey=survey, changes=[
        Change("framework@LLM", "pytorch", 0), Change("framework_version@LLM", "2.1.0", 0),
        Change("model_name@LLM", "一号", 0), Change("framework_version@HLM", "2.3.0", 0)])
    client.force_login(actor)
    client.post(reverse("surveys:section", args=["EP2501", "model"]), {"copy": "LLM>HLM"})
    cells = Sheet(survey).cells
    assert [cells[f"{key}@HLM"].value for key in ("framework", "framework_version", "model_name")
            ] == ["pytorch", "2.3.0", None]
