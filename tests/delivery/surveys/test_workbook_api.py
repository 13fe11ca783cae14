"""The workbook over the API, and what follows from the answers over the API."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from delivery.surveys.answer_sheet import Sheet
from engagements.models import Role
from engagements.web.form_actions import XLSX
from tests.delivery.surveys.conftest import confirm
from tests.delivery.surveys.test_workbook import opened, packed, place


def send(client, survey, data: bytes, **more):
    return client.post(f"/api/v1/surveys/{survey.pk}/workbook/",
                       {"file": SimpleUploadedFile("s.xlsx", data), **more})


@pytest.mark.parametrize("accept", ["*/*", XLSX, "application/json"])
def test_download_and_send_back_unchanged(complete, people, client, accept):
    client.force_login(people[Role.REVIEWER])
    answer = client.get(f"/api/v1/surveys/{complete.pk}/workbook/?language=en",
                        headers={"Accept": accept})
    assert answer["Content-Type"] == XLSX
    reported = send(client, complete, answer.content, apply="true").json()
    assert (reported["differences"], reported["errors"], reported["saved"]) == ([], [], [])
    assert client.get(f"/api/v1/surveys/{complete.pk}/workbook/?language=fr").status_code == 400


@pytest.mark.slow
def test_wrong_cells_are_named_and_the_rest_is_written_on_demand(complete, people, client):
    book = opened(complete)
    wrong = place(book, "cards")
    wrong.value, place(book, "chip").value = "acht", "Ascend 910C"
    client.force_login(people[Role.REVIEWER])
    preview = send(client, complete, packed(book)).json()
    assert [(e["sheet"], e["cell"]) for e in preview["errors"]] == [
        ("Engagement", wrong.coordinate)]
    assert [d["name"] for d in preview["differences"]] == ["chip"]
    assert Sheet(complete).cells["chip"].value == "910b"
    assert send(client, complete, packed(book), apply="true").json()["saved"] == ["chip"]
    assert Sheet(complete).cells["chip"].value == "910c"


def test_no_survey_no_file_no_right(complete, people, client, stranger):
    client.force_login(people[Role.REVIEWER])
    assert send(client, complete, b"no workbook").status_code == 400
    assert client.post(f"/api/v1/surveys/{complete.pk}/workbook/", {}).status_code == 400
    client.force_login(people[Role.SALES])
    assert send(client, complete, b"x").status_code == 403
    client.force_login(stranger)
    assert send(client, complete, b"x").status_code == 404
    assert client.get(f"/api/v1/surveys/{complete.pk}/workbook/").status_code == 404


@pytest.mark.slow
def test_consequences_over_the_api(complete, people, client):
    confirm(complete, people)
    client.force_login(people[Role.MANAGER])
    place = f"/api/v1/surveys/{complete.pk}"
    rows = client.get(f"{place}/consequences/").json()
    chosen = [row["token"] for row in rows if row["kind"] == "fact"]
    taken = client.post(f"{place}/consequences/", json.dumps({"tokens": chosen}),
                        "application/json").json()["codes"]
    assert taken == [row["code"] for row in rows if row["kind"] == "fact"]
    again = client.post(f"{place}/consequences/", json.dumps({"tokens": chosen}),
                        "application/json")
    assert (again.status_code, again.json()["title"]) == (409, "overtaken")
    assert client.get(f"{place}/readiness/").json()["score"] > 0
    made = client.post(f"{place}/decisions/", json.dumps(
        {"verdict": "conditional", "reason": "x"}), "application/json")
    assert made.status_code == 201
    assert [d["verdict"] for d in client.get(f"{place}/decisions/").json()] == ["conditional"]
    client.force_login(people[Role.REVIEWER])
    assert [client.get(f"{place}/{name}/").status_code for name in (
        "consequences", "readiness", "decisions")] == [403, 403, 403]
