"""Configuration differences: the reviewed allow-list decides, nothing else (R-ACC-02)."""

from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from rest_framework.test import APIClient

from assessments import services
from assessments.accuracy import allowlist
from assessments.models import AllowedDifference
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role

RESULT = Path(__file__).parents[1] / "samples" / "accuracy" / "config_check" / "result.xlsx"


def row(sheet="env", item="HCCL_ALGO", npu=None, bench="Ring"):
    return {"sheet": sheet, "item": item, "npu": npu, "bench": bench, "level": "error"}


def propose(people, engagement, **fields):
    return services.propose_difference(actor=people[Role.CONSULTANT], engagement=engagement, **{
        "sheet": "env", "item": "HCCL_ALGO", "bench_value": "Ring", "reason": "NPU library",
        **fields})


def outcome(engagement, *rows, not_compared=()):
    values = {"differences": list(rows), "not_compared": list(not_compared)}
    differences = allowlist.compared(values, allowlist.entries_of(engagement))
    return allowlist.judged(values, differences).outcome


def test_a_difference_counts_as_natural_only_once_reviewed(people, engagement):
    assert outcome(engagement, row()) == "failed"
    entry = propose(people, engagement)
    assert outcome(engagement, row()) == "not_provable"
    services.review_difference(actor=people[Role.REVIEWER], entry=entry)
    assert outcome(engagement, row()) == "passed"
    assert outcome(engagement, row(bench="Tree")) == "failed"
    services.withdraw_difference(actor=people[Role.MANAGER], entry=entry)
    assert outcome(engagement, row()) == "failed"
    assert list(AuditEntry.objects.filter(action__startswith="allowlist").values_list(
        "action", flat=True).order_by("pk")) == [
        "allowlist.propose", "allowlist.review", "allowlist.withdraw"]


def test_a_beginning_allows_any_value(people, engagement):
    entry = propose(people, engagement, item="HCCL_*")
    services.review_difference(actor=people[Role.MANAGER], entry=entry)
    assert outcome(engagement, row(bench="Tree"), row(item="HCCL_BUFFSIZE", npu="200")) == "passed"
    assert outcome(engagement, row(item="PATH")) == "failed"
    assert outcome(engagement, row(sheet="pip")) == "failed"


@pytest.mark.parametrize("sheet", ["hyperparameters", "dataset", "weights", "random"])
def test_everything_else_must_match(people, engagement, sheet):
    with pytest.raises(InvalidInput):
        propose(people, engagement, sheet=sheet)
    assert outcome(engagement, row(sheet=sheet)) == "failed"


def test_what_was_not_compared_is_not_passed(engagement):
    assert outcome(engagement, not_compared=["weights"]) == "not_provable"
    assert outcome(engagement) == "passed"


@pytest.mark.parametrize("fields", [
    {"reason": " "}, {"item": "*"}, {"item": "HC*"}, {"item": "A*B*"}, {"item": ""}])
def test_what_cannot_be_proposed(people, engagement, fields):
    with pytest.raises(InvalidInput):
        propose(people, engagement, **fields)


def test_four_eyes(people, engagement):
    entry = services.propose_difference(
        actor=people[Role.MANAGER], engagement=engagement, sheet="pip", item="torch_npu",
        is_any_value=True, reason="NPU only")
    with pytest.raises(WrongState):
        services.review_difference(actor=people[Role.MANAGER], entry=entry)
    with pytest.raises(NotAllowed):
        services.review_difference(actor=people[Role.CONSULTANT], entry=entry)
    with pytest.raises(IntegrityError, match="allow_list_reviewed_by_another"), \
            transaction.atomic():
        AllowedDifference.objects.update(reviewed_by=people[Role.MANAGER])


@pytest.mark.slow
def test_the_page_from_proposal_to_review(client, people, store, model):
    artifact = store("result.xlsx", RESULT.read_bytes(), model)
    url = reverse("assessments:config_check", args=[artifact.pk])
    propose_url = reverse("assessments:config_propose", args=[artifact.pk])
    client.force_login(people[Role.CONSULTANT])
    shown = client.get(url).context["differences"]
    ticked = [d.number for d in shown if d.sheet == "env"]
    client.post(propose_url, {"numbers": [*ticked, shown[-1].number], "reason": "x"})
    assert not AllowedDifference.objects.exists()  # the last one must match: nothing is written
    client.post(propose_url, {"numbers": ticked, "reason": "different libraries"})
    client.post(propose_url, {"sheet": "pip", "item": "torch*", "reason": "other build"})
    assert AllowedDifference.objects.count() == len(ticked) + 1
    client.force_login(people[Role.REVIEWER])
    for entry in AllowedDifference.objects.all():
        client.post(reverse("assessments:config_review", args=[artifact.pk, entry.pk]))
    answer = client.get(url)
    states = {d.state for d in answer.context["differences"] if d.sheet == "env"}
    assert (states, answer.context["verdict"].outcome) == ({"allowed"}, "failed")
    client.post(reverse("assessments:config_withdraw", args=[artifact.pk, entry.pk]))
    assert AllowedDifference.objects.filter(withdrawn_at=None).count() == len(ticked)


def test_roles_and_strangers(client, people, stranger, store, model):
    artifact = store("result.xlsx", RESULT.read_bytes(), model)
    url = reverse("assessments:config_check", args=[artifact.pk])
    client.force_login(people[Role.REVIEWER])
    assert client.get(url).status_code == 200
    client.post(reverse("assessments:config_propose", args=[artifact.pk]),
                {"sheet": "env", "item": "A_LONG_ONE", "reason": "x"})
    assert not AllowedDifference.objects.exists()
    client.force_login(stranger)
    assert client.get(url).status_code == 404


def test_the_api(people, stranger, engagement, store, model):
    artifact = store("result.xlsx", RESULT.read_bytes(), model)
    api = APIClient()
    api.force_authenticate(people[Role.CONSULTANT])
    made = api.post("/api/v1/allowed-differences/", {
        "engagement": engagement.pk, "sheet": "env", "item": "HCCL_*", "reason": "x"})
    again = api.post("/api/v1/allowed-differences/", {
        "engagement": engagement.pk, "sheet": "env", "item": "HCCL_*", "reason": "x"})
    number = made.json()["id"]
    assert (made.status_code, again.json()["id"], made.json()["state"]) == (201, number, "proposed")
    assert api.post(f"/api/v1/allowed-differences/{number}/review/").status_code == 403
    api.force_authenticate(people[Role.REVIEWER])
    assert api.post(f"/api/v1/allowed-differences/{number}/review/").json()["state"] == "allowed"
    found = api.get("/api/v1/config-checks/", {"artifact": artifact.pk}).json()["results"]
    assert [(entry["outcome"], len(entry["differences"]) > 0) for entry in found] == [
        ("failed", True)]
    api.force_authenticate(stranger)
    assert api.get("/api/v1/config-checks/").json()["results"] == []
    assert api.post(f"/api/v1/allowed-differences/{number}/withdraw/").status_code == 404
