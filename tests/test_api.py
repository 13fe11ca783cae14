"""The REST API: schema, log-ins, errors as problem+json, strangers, and the endpoints' services."""

from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from rest_framework.test import APIClient

from engagements import services
from engagements.errors import InvalidInput
from engagements.models import Engagement, Role, StageRecord
from engagements.stages import StageState
from engagements.web.problem_responses import input_sentence
from workers.kinds.base import Parameter


@pytest.fixture
def api():
    return APIClient()


def without_database_bounds(text: str) -> str:
    """The schema without the integer bounds that DRF takes from the database in use."""
    bounds = ("maximum:", "minimum:", "format: int64")
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith(bounds))


def test_committed_schema_is_the_code_s():
    out = StringIO()
    call_command("spectacular", stdout=out, stderr=StringIO(), lang="en")
    committed = (Path(settings.BASE_DIR) / "docs" / "openapi.yaml").read_text()
    assert without_database_bounds(committed).rstrip() == without_database_bounds(
        out.getvalue()).rstrip(), "run: python manage.py regenerate"


def test_token_log_in(api, people):
    answer = api.post("/api/v1/token/", {"username": "manager", "password": "Trial-2026!"})
    api.credentials(HTTP_AUTHORIZATION=f"Token {answer.data['token']}")
    assert api.get("/api/v1/engagements/").status_code == 200


def test_without_log_in_nothing_is_answered(api, db):
    assert api.get("/api/v1/engagements/").status_code in (401, 403)


def test_engagement_by_api(api, people):
    api.force_authenticate(people[Role.MANAGER])
    customer = api.post("/api/v1/customers/", {"name": "某公司"}).json()
    made = api.post("/api/v1/engagements/", {
        "code": "X1", "name": "迁移", "customer": customer["id"], "scope": "full"})
    model = api.post("/api/v1/models/", {
        "engagement": made.json()["id"], "code": "M1", "name": "模型", "scope": "inference"})
    assert (made.status_code, model.status_code) == (201, 201)
    states = StageRecord.objects.filter(model_id=model.json()["id"]).values_list("state", flat=True)
    assert list(states).count(StageState.SKIPPED) == 3


def test_move_and_gate_by_api(api, people, engagement):
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="M",
                               name="m")
    record = model.stages.get(stage="survey")
    api.force_authenticate(people[Role.CONSULTANT])
    moved = api.post(f"/api/v1/stages/{record.pk}/move/", {"move": "start"})
    gate = api.get(f"/api/v1/stages/{record.pk}/gate/").json()
    again = api.post(f"/api/v1/stages/{record.pk}/move/", {"move": "start"})
    assert moved.json()["state"] == "in_progress"
    assert [c["is_met"] for c in gate] == [False, False, False, False]
    assert (again.status_code, again["Content-Type"]) == (409, "application/problem+json")
    assert again.json()["title"] == "wrong_state"


@pytest.mark.parametrize("path", ["engagements/EP2501/", "models/{model}/"])
def test_stranger_gets_404(api, people, engagement, stranger, path):
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="M",
                               name="m")
    api.force_authenticate(stranger)
    answer = api.get(f"/api/v1/{path.format(model=model.pk)}")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_reviewer_cannot_write(api, people, engagement):
    api.force_authenticate(people[Role.REVIEWER])
    answer = api.post("/api/v1/models/", {"engagement": engagement.pk, "code": "M", "name": "m"})
    assert (answer.status_code, answer.json()["title"]) == (403, "not_allowed")
    assert not Engagement.objects.get().models.exists()


def test_faults_of_the_input_are_sentences_in_the_user_s_language(api, people, engagement):
    api.force_authenticate(people[Role.MANAGER])
    wrong = {"records": ["x"], "move": "jump"}
    english, chinese = (api.post("/api/v1/stages/bulk_move/", wrong, format="json", headers={
        "accept-language": language}).json() for language in ("en", "zh-hans"))
    assert english["errors"] == {"move": ['"jump" is not a valid choice.'],
                                 "records": {"0": ["A valid integer is required."]}}
    assert english["detail"] == ('move: "jump" is not a valid choice. '
                                 "records[0]: A valid integer is required.")
    assert "不是合法选项" in chinese["detail"]
    assert english["title"] == "invalid"
    missing = [api.get("/api/v1/quotes/999/", headers={"accept-language": language}).json()
               for language in ("en", "zh-hans")]
    assert [body["detail"] for body in missing] == ["Not found.", "未找到。"]


@pytest.mark.parametrize(("errors", "sentence"), [
    (["Too long."], "Too long."),
    ([{}, {"kind": ["Unknown."]}], "[1].kind: Unknown."),
    ({"changes": [{}, {"name": ["Required."]}], "non_field_errors": ["Both or none."]},
     "changes[1].name: Required. Both or none."),
    ({"a": {"non_field_errors": ["x."]}}, "a: x."),
    ({f"f{n}": ["x."] for n in range(7)}, "f0: x. f1: x. f2: x. f3: x. f4: x. …")])
def test_the_sentence_of_faults(errors, sentence):
    assert input_sentence(errors) == sentence


def test_kinds_tell_their_parameters(api, people):
    api.force_authenticate(people[Role.CONSULTANT])
    kinds = {kind["code"]: kind for kind in api.get("/api/v1/job-kinds/").json()}
    assert {"env.npu_info", "env.host_probe", "env.torch_check", "survey.pt_analyse",
            "adapt.gpu2npu", "adapt.megatron_train", "acc.config_check", "acc.compare",
            "acc.loss_compare", "inf.atc", "inf.om_bench"} <= set(kinds)
    assert kinds["inf.om_bench"]["parameters"]["properties"]["loop"]["maximum"] == 1_000_000


DEEP = b"[" * 100_000
NESTED = b'{"a":' * 100 + b"1" + b"}" * 100
LONG_NUMBER = b'{"name": ' + b"9" * 4000 + b"}"


@pytest.mark.parametrize("body", [DEEP, NESTED, LONG_NUMBER])
@pytest.mark.parametrize("path", ["token", "jobs", "customers", "document-identities", "quotes"])
def test_json_beyond_the_limits_is_refused(api, people, path, body):
    if path != "token":
        api.force_authenticate(people[Role.MANAGER])
    answer = api.post(f"/api/v1/{path}/", body, content_type="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


def test_a_number_beyond_64_bits_in_a_job_s_parameters(people):
    parameter = Parameter("cards", "Cards", "integer")
    with pytest.raises(InvalidInput):
        parameter.clean(10 ** 400)
    with pytest.raises(InvalidInput):
        parameter.clean("9" * 4000)


def test_no_route_takes_a_format_suffix(api, people):
    api.force_authenticate(people[Role.MANAGER])
    assert api.get("/api/v1/engagements.json").status_code == 404
