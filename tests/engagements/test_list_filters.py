"""Engagements are named by code; every list knows the filters that its rows can answer."""

from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_filters import FilterSet
from rest_framework.test import APIClient

from delivery.acceptance.models import Condition, WarrantyClaim
from engagements import services
from engagements.models import Engagement, MigratedModel, Role
from engagements.serializers import MigratedModelSerializer
from engagements.web.list_filters import common_filters
from workers.artifacts.artifact_store import store_file
from workers.models import Job


@pytest.fixture
def api(people):
    client = APIClient(headers={"accept-language": "en"})
    client.force_authenticate(people[Role.MANAGER])
    return client


@pytest.fixture
def other(people, engagement):
    from engagements.services import create_engagement
    return create_engagement(actor=people[Role.MANAGER], code="EP2502", name="other",
                             customer=engagement.customer, scope="full")


@pytest.mark.parametrize("name", ["code", "pk"])
def test_an_engagement_by_code_or_number(api, engagement, other, name):
    made = [api.post("/api/v1/models/", {"engagement": getattr(each, name), "code": "M1",
                                         "name": "m", "scope": "inference"}, "json")
            for each in (engagement, other)]
    assert [answer.status_code for answer in made] == [201, 201]
    for path in ("models", "stages"):
        found = api.get(f"/api/v1/{path}/", {"engagement": getattr(other, name)}).json()
        assert found["count"] == len(api.get(f"/api/v1/{path}/").json()["results"]) / 2
        assert found["results"]


def test_an_unknown_engagement_and_one_of_others(api, people, engagement):
    hidden = Engagement.objects.create(code="HIDDEN", name="h", customer=engagement.customer)
    client = APIClient(headers={"accept-language": "en"})
    client.force_authenticate(people[Role.REVIEWER])
    for name in ("NONE", hidden.code, hidden.pk, "9" * 40):
        answer = client.get("/api/v1/models/", {"engagement": name})
        assert answer.json()["errors"] == {"engagement": [f"There is no engagement “{name}”."]}
    body = api.post("/api/v1/models/", {"engagement": "NONE", "code": "M2", "name": "m",
                                        "scope": "inference"}, "json")
    assert body.json()["codes"] == {"engagement": ["does_not_exist"]}


def test_ranges_and_order_of_creation(api, people, engagement):
    now = timezone.now()
    for age in (1, 3, 2):
        job = Job.objects.create(kind="env.host_probe", engagement=engagement,
                                 created_by=people[Role.MANAGER])
        Job.objects.filter(pk=job.pk).update(created_at=now - timedelta(days=age))
    first, second, third = Job.objects.order_by("created_at").values_list("pk", flat=True)

    def found(**query):
        return [row["id"] for row in api.get("/api/v1/jobs/", query).json()["results"]]

    assert found(ordering="created") == [first, second, third]
    assert found(ordering="-created") == [third, second, first]
    since = (now - timedelta(days=2)).isoformat()
    assert found(created_after=since, ordering="created") == [second, third]
    assert found(created_before=since) == [first]
    assert found(ordering="created", page_size=1, page=2) == [second]


@pytest.mark.parametrize("path", ["verdicts", "jobs", "artifacts", "measurements"])
def test_lists_of_evidence_take_them_all(api, engagement, path):
    asked = {"engagement": engagement.code, "created_after": "2026-01-01T00:00:00Z",
             "created_before": "2026-12-31T00:00:00Z", "ordering": "-created"}
    assert api.get(f"/api/v1/{path}/", asked).status_code == 200


def test_verdicts_by_model_and_stage(api, engagement):
    assert api.get("/api/v1/verdicts/", {"stage": "survey"}).json()["results"] == []
    assert api.get("/api/v1/verdicts/", {"stage": "lunch"}).status_code == 400


def test_what_has_changed_since_a_time(api, people, engagement, monkeypatch):
    """By the log's entries: a row written since then, and the others; not before it was kept."""
    first, second = (services.add_model(actor=people[Role.MANAGER], engagement=engagement,
                                        code=code, name="m") for code in ("M1", "M2"))
    began = timezone.now()
    services.update_model(actor=people[Role.MANAGER], model=second, name="other")

    def found(**query):
        answer = api.get("/api/v1/models/", query)
        assert answer.status_code == 200, answer.content
        return [row["code"] for row in answer.json()["results"]]

    assert found(changed_after=began.isoformat()) == [second.code]
    assert found(changed_before=began.isoformat()) == [first.code]
    assert found(ordering="-created") == [second.code, first.code]
    services.update_model(actor=people[Role.MANAGER], model=first, name="again")
    assert found(ordering="changed") == [second.code, first.code]
    assert found(ordering="-changed", changed_after=began.isoformat()) == [first.code, second.code]
    assert found(ordering="-changed", page_size=1, page=2) == [second.code]
    long_ago = api.get("/api/v1/models/", {"changed_after": "2020-01-01T00:00:00Z"})
    assert long_ago.status_code == 400
    assert "Changes can be asked for from" in long_ago.json()["detail"]


def test_conditions_and_claims_are_made_when_they_were_raised():
    assert {table: str(filters["created_after"].field_name) for table, filters in (
        (table, common_filters(table, FilterSet)) for table in (Condition, WarrantyClaim))} == {
            Condition: "review__opened_at", WarrantyClaim: "raised_at"}


def test_answers_name_an_engagement_by_its_code(api, people, engagement, other):
    for each in (engagement, other):
        services.add_model(actor=people[Role.MANAGER], engagement=each, code="M1", name="m")
    rows = api.get("/api/v1/models/").json()["results"]
    assert {row["engagement"]: row["engagement_code"] for row in rows} == {
        engagement.pk: engagement.code, other.pk: other.code}
    with CaptureQueriesContext(connection) as asked:
        shown = MigratedModelSerializer(MigratedModel.objects.order_by("pk"), many=True).data
    assert [row["engagement_code"] for row in shown] == [engagement.code, other.code]
    assert len(asked) == 2  # the rows, and the codes of all of them


def test_readings_of_files_are_there_for_who_asks(api, engagement):
    stored = store_file(stream=ContentFile(b"x"), name="a.txt", engagement=engagement)
    [short] = api.get("/api/v1/artifacts/").json()["results"]
    [whole] = api.get("/api/v1/artifacts/", {"include": "readings"}).json()["results"]
    one = api.get(f"/api/v1/artifacts/{stored.pk}/").json()
    assert ("readings" in short, whole["readings"], one["readings"]) == (False, [], [])
    refused = api.get("/api/v1/artifacts/", {"include": "readings,bytes"})
    assert refused.json()["errors"] == {"include": ["Files have no “bytes” to include."]}
