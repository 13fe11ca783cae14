"""Unsupported and unknown APIs: what counts as found, their routes, and the gate."""

import io
from datetime import date

import pytest
from django.utils import timezone, translation
from rest_framework.test import APIClient

from engagements import services as engagements
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role
from workers.artifacts.artifact_store import store_file
from workers.gate_checks import apis_have_routes
from workers.models import ApiRoute, Job, StoredReading
from workers.services import record_routes
from workers.unresolved_apis import found_apis

UNSUPPORTED, UNKNOWN = "unsupported_api", "unknown_api"


@pytest.fixture
def model(engagement, people):
    return engagements.add_model(actor=people[Role.MANAGER], engagement=engagement, code="M1",
                                 name="M1", framework="PyTorch 2.1.0")


def analysis(model, state="succeeded", kind="migration_analysis", source="/src", **tables):
    """A job on a source folder with one file per table of APIs."""
    job = Job.objects.create(kind="survey.pt_analyse", engagement=model.engagement, model=model,
                             stage="survey", state=state, parameters={"source": source},
                             finished_at=timezone.now())
    for table, apis in tables.items():
        reading(model, kind, {"form": "table", "table": table, "apis": apis, "items": [
            {"OP": api, "File": "a.py", "Start Line": 3} for api in apis]}, job, table)
    return job


def reading(model, kind, values, job=None, name="x"):
    artifact = store_file(stream=io.BytesIO(repr(values).encode()), name=name, job=job,
                          engagement=model.engagement, model=model)
    return StoredReading.objects.create(artifact=artifact, kind=kind, reader="r",
                                        reader_version="1", values=values)


def names(model):
    return [entry.api for entry in found_apis(model)]


def gate(model, stage="train_adapt"):
    with translation.override("en"):
        return [(r.is_met, r.sentence) for r in apis_have_routes(model.stages.get(stage=stage))]


def record(people, model, *apis, route="replace", reason="why", **issue):
    return record_routes(actor=people[Role.CONSULTANT], model=model, apis=list(apis), route=route,
                         reason=reason, **issue)


def test_the_gate_stays_closed_while_one_api_is_without_route(people, model):
    assert gate(model) == []
    analysis(model, **{UNSUPPORTED: {f"torch.f{n}": 1 for n in range(7)}, UNKNOWN: {"torch.g": 2}})
    assert gate(model) == [(False, (
        "8 of 8 unsupported or unknown APIs have no route: torch.f0, torch.f1, torch.f2, torch.f3, "
        "torch.f4 and 3 more."))]
    record(people, model, *(f"torch.f{n}" for n in range(7)), route="cpu")
    assert gate(model) == [(False, "1 of 8 unsupported or unknown APIs has no route: torch.g.")]
    record(people, model, "torch.g", route="as_is")
    assert gate(model) == [(True, "All 8 unsupported or unknown APIs have a route.")]
    assert gate(model, "train_tune") == []


def test_a_newer_analysis_carries_routes_over_and_asks_for_new_names(people, model):
    analysis(model, **{UNSUPPORTED: {"torch.a": 1, "torch.b": 1}})
    record(people, model, "torch.a", "torch.b", route="drop")
    analysis(model, **{UNSUPPORTED: {"torch.a": 4, "torch.c": 1}})
    assert [(e.api, e.uses, e.route and e.route.route) for e in found_apis(model)] == [
        ("torch.a", 4, "drop"), ("torch.c", 1, None)]


def test_an_unfinished_analysis_proves_nothing_of_what_it_does_not_list(model):
    analysis(model, **{UNSUPPORTED: {"torch.a": 1}})
    analysis(model, state="failed", **{UNSUPPORTED: {"torch.b": 1}})
    analysis(model, source="/other", **{UNSUPPORTED: {"torch.c": 1}})
    assert names(model) == ["torch.a", "torch.b", "torch.c"]


def test_other_tools_name_theirs(model):
    reading(model, "tf_conversion", {
        "form": "api_table", "unsupported_apis": {"tf.bad": 2}, "items": [
            {"file": "m.py", "line": 7, "api": "tf.bad", "support": "不支持（无迁移方案）"},
            {"file": "m.py", "line": 9, "api": "tf.unclear", "support": "分析中"},
            {"file": "m.py", "line": 9, "api": "tf.old", "support": "废弃类"}]})
    reading(model, "source_scan", {"findings": [
        {"check": "unsupported_api", "note": "torch.nn.DataParallel", "file": "t.py", "line": 1,
         "snippet": ""}]}, name="s.zip")
    assert [(e.api, str(e.kind), e.place) for e in found_apis(model)] == [
        ("tf.bad", "unsupported", "m.py:7"), ("torch.nn.DataParallel", "unsupported", "t.py:1"),
        ("tf.unclear", "unknown", "m.py:9")]


def test_operators_that_atc_refuses_are_asked_for_at_the_inference(model):
    failed = {"form": "atc", "succeeded": False, "codes": ["EZ3003"], "op_types": ["Convx"],
              "ops": [{"name": "Conv_1", "type": "Convx"}]}
    reading(model, "conversion_log", failed, name="log.txt")
    assert gate(model) == []
    assert gate(model, "infer_migrate") == [
        (False, "1 of 1 unsupported or unknown APIs has no route: Convx.")]
    reading(model, "conversion_log", {**failed, "codes": ["E10001"]}, name="log.txt")
    assert names(model) == ["Convx"]  # another failure says nothing of the operator
    reading(model, "conversion_log", {"form": "atc", "succeeded": True, "codes": []},
            name="log.txt")
    assert names(model) == []


@pytest.mark.parametrize(("apis", "route", "reason"), [
    ([], "replace", "why"), (["torch.a"], "pray", "why"), (["torch.a"], "replace", " "),
    (["torch.strange"], "replace", "why"), (["torch.a"], "as_is", "why")])
def test_what_is_no_route_is_refused(people, model, apis, route, reason):
    analysis(model, **{UNSUPPORTED: {"torch.a": 1}})
    with pytest.raises(InvalidInput):
        record(people, model, *apis, route=route, reason=reason)
    assert not ApiRoute.objects.exists()


def test_page_and_api_record_with_who_and_why(client, people, model):
    analysis(model, **{UNSUPPORTED: {"torch.a": 1, "torch.b": 1}})
    url = f"/models/{model.pk}/api-routes/"
    client.force_login(people[Role.CONSULTANT])
    client.post(url, {"apis": ["torch.a", "torch.b"], "route": "develop", "reason": "no other"})
    page = client.get(url).content.decode()
    assert page.count("no other") == 4  # in force, and in the history
    entry = AuditEntry.objects.get(action="api_route.record")
    assert entry.data["apis"] == ["torch.a", "torch.b"]
    rest = APIClient()
    rest.force_authenticate(people[Role.CONSULTANT])
    answer = rest.post("/api/v1/api-routes/", {"model": model.pk, "apis": ["torch.b"],
                                            "route": "drop", "reason": "unused"}, format="json")
    assert (answer.status_code, answer.data[0]["decided_by"]) == (
        201, people[Role.CONSULTANT].pk)
    found = rest.get("/api/v1/api-routes/found/", {"model": model.pk}).data
    assert [(row["api"], row["route"]["route"]) for row in found] == [
        ("torch.a", "develop"), ("torch.b", "drop")]
    with pytest.raises(NotAllowed):
        record_routes(actor=people[Role.SALES], model=model, apis=["torch.a"], route="drop",
                      reason="x")


ISSUE = "https://gitee.com/ascend/pytorch/issues/I1"


def test_an_issue_with_the_community_is_a_route_once_it_is_answered(client, people, model):
    analysis(model, **{UNSUPPORTED: {"torch.a": 1}})
    record(people, model, "torch.a", route="issue", reason="asked", link=ISSUE)
    assert gate(model) == [(False, "1 of 1 unsupported or unknown APIs has no route: torch.a.")]
    client.force_login(people[Role.CONSULTANT])
    today = timezone.localdate().isoformat()
    client.post(f"/models/{model.pk}/api-routes/", {
        "apis": ["torch.a"], "route": "issue", "reason": "use torch.b", "link": ISSUE,
        "answered_on": today})
    assert gate(model)[0][0]
    page = client.get(f"/models/{model.pk}/api-routes/").content.decode()
    assert f"{ISSUE}，{today} 答复" in page
    assert f"{ISSUE}，尚未答复" in page  # the history keeps the question


@pytest.mark.parametrize(("route", "issue"), [
    ("issue", {}), ("replace", {"link": ISSUE}), ("issue", {"link": "javascript:alert(1)"}),
    ("replace", {"answered_on": date(2026, 1, 2)}),
    ("issue", {"link": ISSUE, "answered_on": date(2999, 1, 1)})])
def test_a_link_and_an_answer_belong_to_an_issue(people, model, route, issue):
    analysis(model, **{UNSUPPORTED: {"torch.a": 1}})
    with pytest.raises(InvalidInput):
        record(people, model, "torch.a", route=route, **issue)
