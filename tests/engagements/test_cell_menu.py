"""The menu of a cell of the matrix: moves, assignment, comments and history, loaded on demand."""

import pytest
from django.urls import reverse

from engagements import services
from engagements.models import Role
from engagements.queries import MODELS_PER_PAGE
from engagements.stages import Stage, StageState
from tests.cached_fixtures import cached_fixture


@pytest.fixture
@cached_fixture
def record(people, engagement):
    """The first stage of a model on the second page of the matrix."""
    for n in range(MODELS_PER_PAGE + 1):
        model = services.add_model(actor=people[Role.MANAGER], engagement=engagement,
                                   code=f"M{n:02}", name="x")
    return model.stages.get(stage=Stage.SURVEY)


def _url(record, name):
    return reverse(f"engagements:{name}",
                   args=[record.engagement.code, record.model.code, record.stage])


def test_every_cell_has_its_menu(client, people, engagement, record):
    client.force_login(people[Role.CONSULTANT])
    page = client.get(reverse("engagements:engagement", args=[engagement.code]))
    shown = page.content.decode()
    assert shown.count('class="desk-more') == MODELS_PER_PAGE * len(Stage)
    assert f"#cell-{record.pk}" not in shown
    menu = client.get(_url(record, "cell_menu"), headers={"HX-Request": "true"}).content.decode()
    for part in ('value="start"', 'name="person"', 'name="text"', _url(record, "stage")):
        assert part in menu
    assert "<html" not in menu
    assert "<html" in client.get(_url(record, "cell_menu")).content.decode()


def test_moves_and_assignments_lead_back_to_the_cell(client, people, engagement, record):
    consultant = people[Role.CONSULTANT]
    client.force_login(consultant)
    place = f"{reverse('engagements:engagement', args=[engagement.code])}?page=2#cell-{record.pk}"
    answer = client.post(_url(record, "stage_move"), {"move": "start", "back": "matrix"})
    assert answer.headers["Location"] == place
    record.refresh_from_db()
    assert record.state == StageState.IN_PROGRESS
    answer = client.post(reverse("engagements:assign", args=[engagement.code]),
                         {"record": record.pk, "person": consultant.pk})
    assert answer.headers["Location"] == place
    menu = client.get(_url(record, "cell_menu"), headers={"HX-Request": "true"}).content.decode()
    assert f'value="{consultant.pk}" selected' in menu
    assert 'value="submit"' in menu


def test_customers_have_no_menu(client, people, engagement, record):
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("engagements:engagement", args=[engagement.code])).content.decode()
    assert ("desk-more" in page, "cell-menu" in page) == (False, False)
    assert client.get(_url(record, "cell_menu")).status_code == 403


def test_no_start_is_offered_before_the_turn_of_a_stage(client, people, engagement, record):
    client.force_login(people[Role.CONSULTANT])
    design = record.model.stages.get(stage=Stage.DESIGN)
    for name in ("stage", "cell_menu"):
        early = client.get(_url(design, name), headers={"accept-language": "en"}).content.decode()
        assert ('value="start"' in early, "Survey has not passed yet." in early) == (False, True)
        first = client.get(_url(record, name), headers={"accept-language": "en"}).content.decode()
        assert ('value="start"' in first, "has not passed yet." in first) == (True, False)
