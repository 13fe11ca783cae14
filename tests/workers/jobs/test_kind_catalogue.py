"""Every declaration is complete, and the catalogue shows it."""

from pathlib import Path

import jsonschema
import pytest
from django.utils import translation

from engagements.errors import InvalidInput
from engagements.stages import Stage
from workers import kinds
from workers.forms.jobs import JobForm
from workers.jobs import kind_catalogue
from workers.models import Node

kinds.load_all()
ALL = [kind for kind in kinds.all_kinds() if not kind.code.startswith("test.")]
OURS = [kind for kind in ALL if type(kind).__module__.startswith("workers.kinds.")]


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.code)
def test_declaration_is_complete(kind):
    assert kind.title
    assert kind.description
    assert kind.success
    assert kind.usual_seconds
    assert kind.usual_seconds <= kind.timeout_seconds
    assert set(kind.stages) <= set(Stage.values)
    assert all(p.label for p in kind.parameters)
    if kind.runs_on_node:
        assert all(isinstance(word, str) for word in kind.example_command())
    jsonschema.Draft202012Validator.check_schema(kind.schema())


@pytest.mark.parametrize("given", ["1e400", "-1e400", "inf", "nan", float("inf"), 10**400],
                         ids=lambda given: str(given)[:5])
def test_a_number_is_finite(given, people, engagement):
    kind = kinds.get("env.hccl_test")
    with translation.override("en"), pytest.raises(InvalidInput, match="number"):
        kind.clean({"least_bandwidth": given})
    form = JobForm({"least_bandwidth": str(given)}, kind=kind, user=people["consultant"],
                   engagement=engagement)
    assert "least_bandwidth" in form.errors


@pytest.mark.parametrize("given", ["1e400", '"1e400"', "NaN", '"nan"'])
def test_a_number_in_json_is_finite(given, people, engagement):
    from rest_framework.test import APIClient

    api = APIClient(headers={"accept-language": "en"})
    api.force_authenticate(people["consultant"])
    node = Node.objects.create(name="n1", host="192.0.2.1", username="x", state="ready",
                               cards_total=8)
    body = (f'{{"kind": "env.hccl_test", "engagement": {engagement.pk}, "node": {node.pk}, '
            f'"parameters": {{"least_bandwidth": {given}}}}}')
    answer = api.post("/api/v1/jobs/", body, content_type="application/json")
    shown = answer.json()["detail"]
    assert (answer.status_code, "number" in shown or "JSON" in shown) == (400, True), shown


@pytest.mark.parametrize("code", ["env.hdk_install", "env.cann_install", "env.mindspeed_install",
                                  "env.mindie_container"])
def test_installations_want_a_confirmation(code):
    kind = kinds.get(code)
    values = kind.example_parameters()
    kind.clean(values)
    for missing in ({}, {"confirmed": False}, {"confirmed": "no"}):
        with pytest.raises(InvalidInput, match="确认"):
            kind.clean({**{k: v for k, v in values.items() if k != "confirmed"}, **missing})
    assert "confirmed" in kind.schema()["required"]


@pytest.mark.slow
def test_catalogue_and_help_pages(client, people):
    client.force_login(people["consultant"])
    page = client.get("/jobs/catalogue/").content.decode()
    assert all(kind.code in page for kind in ALL)
    for kind in ALL:
        page = client.get(f"/jobs/catalogue/{kind.code}/").content.decode()
        assert all(f"<code>{p.name}</code>" in page for p in kind.parameters)
    assert client.get("/jobs/catalogue/no.such/").status_code == 404


def test_api_gives_one_kind_with_its_schema(people):
    from rest_framework.test import APIClient

    api = APIClient()
    api.force_authenticate(people["consultant"])
    found = api.get("/api/v1/job-kinds/adapt.megatron_train/").json()
    assert found["parameters"]["properties"]["seq_length"]["x-unit"] == "tokens"
    assert "manifest.txt" in found["files"]
    assert api.get("/api/v1/job-kinds/no.such/").status_code == 404


def test_document_lists_the_kinds_as_they_are():
    text = (Path(__file__).parents[3] / "docs" / "job-kinds.md").read_text(encoding="utf-8")
    with translation.override("en"):
        table = kind_catalogue.as_markdown().split("\n### test\n")[0]  # kinds of other tests
    assert text.endswith(table), "run: python manage.py regenerate"


def test_what_need_not_be_chosen_can_be_left_open(people, engagement):
    for kind in kinds.all_kinds():
        form = JobForm(kind=kind, user=people["consultant"], engagement=engagement)
        for parameter in kind.parameters:
            if parameter.type == "choice" and not parameter.is_required and not parameter.default:
                assert form.fields[parameter.name].choices[0][0] == "", (kind.code, parameter.name)
