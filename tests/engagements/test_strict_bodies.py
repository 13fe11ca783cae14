"""A field that the API does not know is refused at any depth, in the language asked for."""

import pytest
from rest_framework.test import APIClient

from delivery.notices.models import Channel
from engagements.models import Role


@pytest.fixture
def api(people):
    client = APIClient()
    client.force_authenticate(people[Role.MANAGER])
    return client


def test_a_misspelt_field_changes_nothing_and_is_named(api, engagement):
    path = f"/api/v1/engagements/{engagement.code}/"
    answer = api.patch(path, {"nmae": "x", "description": "new"}, "json",
                       headers={"Accept-Language": "en"})
    assert (answer.status_code, answer.json()["codes"]) == (400, {"nmae": ["unknown_field"]})
    assert answer.json()["detail"].startswith("nmae: There is no field “nmae”; available: code, ")
    engagement.refresh_from_db()
    assert engagement.description != "new"
    chinese = api.patch(path, {"nmae": "x"}, "json", headers={"Accept-Language": "zh-hans"})
    assert "没有字段“nmae”" in chinese.json()["detail"]


def test_a_row_may_be_sent_back_as_it_was_read(api, engagement):
    path = f"/api/v1/engagements/{engagement.code}/"
    assert api.put(path, api.get(path).json(), "json").status_code == 200


@pytest.mark.parametrize(("path", "body", "place"), [
    ("/api/v1/jobs/batch/", [{"kind": "env.host_probe"}, {"kidn": "x"}], "[1].kidn"),
    ("/api/v1/jobs/", {"kind": "env.host_probe", "priorty": 1}, "priorty"),
    ("/api/v1/invitations/", {"people": [{"usrname": "x"}]}, "people[0].usrname"),
    ("/api/v1/token/", {"username": "a", "pasword": "b"}, "pasword"),
])
def test_nested_bodies_and_those_of_many_rows(api, path, body, place):
    answer = api.post(path, body, "json")
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(f"{place}: ")


def test_an_action_without_a_body_takes_none(api, people):
    api.force_authenticate(people[Role.ADMINISTRATOR])
    channel = Channel.objects.create(name="n", kind="webhook")
    answer = api.post(f"/api/v1/notice-channels/{channel.pk}/rotate-secret/", {"reason": "x"},
                      "json", headers={"Accept-Language": "en"})
    assert answer.json()["errors"] == {"reason": ["There is no field “reason”; available: –."]}


@pytest.mark.parametrize("levels", [100, 100_000])
def test_deep_json_is_refused(api, levels):
    answer = api.post("/api/v1/customers/", data="[" * levels + "]" * levels,
                      content_type="application/json")
    assert (answer.status_code, answer.json()["title"]) == (400, "parse_error")
