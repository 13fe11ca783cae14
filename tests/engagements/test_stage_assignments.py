"""Who of the team works on which stages: from the matrix, and by the API."""

import pytest
from django.urls import reverse

from engagements import services
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role, StageAssignment
from engagements.stages import Stage


@pytest.fixture
def records(people, engagement):
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                               name="x")
    return [model.stages.get(stage=stage) for stage in (Stage.SURVEY, Stage.DESIGN)]


@pytest.mark.slow
def test_stages_are_given_and_taken_back_in_the_matrix(client, people, engagement, records):
    consultant = people[Role.CONSULTANT]
    client.force_login(people[Role.MANAGER])
    place = reverse("engagements:assign", args=[engagement.code])
    keys = {"record": [record.pk for record in records]}
    client.post(place, {**keys, "person": consultant.pk, "comment": "先做算子分析"})
    page = client.get(reverse("engagements:engagement", args=[engagement.code])).content.decode()
    assert page.count(f'class="desk-assigned" title="{consultant}：先做算子分析"') == 2
    assert [(row.record, row.person) for row in StageAssignment.objects.order_by("record")] == [
        (record, consultant) for record in records]
    client.post(place, {**keys, "person": ""})
    assert not StageAssignment.objects.exists()
    entries = AuditEntry.objects.filter(action="stage.assign").order_by("pk")
    assert [entry.data["to"] for entry in entries] == [consultant.username] * 2 + ["", ""]
    assert (next(audit_log.findings(), None), list(audit_log.row_differences())) == (None, [])
    client.force_login(people[Role.REVIEWER])
    client.post(place, {**keys, "person": consultant.pk})
    assert not StageAssignment.objects.exists()


def test_only_people_of_the_firm_on_the_team(people, engagement, records, stranger):
    manager = people[Role.MANAGER]
    for person in (stranger, people[Role.REVIEWER]):
        with pytest.raises(InvalidInput, match=engagement.code):
            services.assign_stages(actor=manager, records=records, person=person)
    with pytest.raises(NotAllowed):
        services.assign_stages(actor=people[Role.REVIEWER], records=records,
                               person=people[Role.CONSULTANT])
    assert not StageAssignment.objects.exists()


def test_the_api_assigns(client, people, engagement, records, stranger):
    url = f"/api/v1/stages/{records[0].pk}/assign/"
    body = {"person": people[Role.CONSULTANT].pk, "note": "x"}
    client.force_login(stranger)
    assert client.post(url, body, content_type="application/json").status_code == 404
    client.force_login(people[Role.CONSULTANT])
    answer = client.post(url, body, content_type="application/json")
    assert (answer.status_code, answer.json()["assigned_to"]) == (200, body["person"])
    answer = client.post(url, {"person": None}, content_type="application/json")
    assert answer.json()["assigned_to"] is None
