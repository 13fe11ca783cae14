"""The training runs of a model: one table, and some of them beside each other."""

import json
import re

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override
from rest_framework.test import APIClient

from assessments import services
from assessments.presentation.training_runs import (
    described,
    environment_lines,
    setting_lines,
    training_logs,
)
from engagements.models import Role
from tests.assessments.conftest import megatron_log
from workers.models import Job, Node

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _in_english(client):
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    with override("en"):
        yield


@pytest.fixture
def jobs(store, model, people):
    """Two jobs of the same training: the second with another batch size, on another CANN."""
    node = Node.objects.create(name="npu-7", host="192.0.2.7", username="desk")
    found = []
    for number, cann in ((1, "8.0.RC2"), (2, "8.1.RC1")):
        artifact = store(f"npu-{number}.log", megatron_log(
            np.linspace(4, 2, 200) * (1 + (2 + number) / 10**4)), model)
        artifact.job = Job.objects.create(
            kind="adapt.megatron_train", model=model, node=node, engagement=model.engagement,
            cards_wanted=8, created_by=people[Role.CONSULTANT], state="succeeded",
            started_at=timezone.now(), finished_at=timezone.now(),
            results={"device": "npu 0", "software": {"cann": cann}},
            parameters={"global_batch": 8 * number, "tp": 2, "data": "/mnt/secret-place/corpus"})
        artifact.save()
        found.append(artifact)
    return found


@pytest.fixture
def address(model):
    def of(name: str, *files, **more):
        query = "&".join([*(f"run={file.pk}" for file in files),
                          *(f"{key}={value}" for key, value in more.items())])
        return f"{reverse(f'assessments:{name}', args=[model.pk])}?{query}"
    return of


def cells(page: str, name: str) -> list[str]:
    """The values of a row of the comparison."""
    row = re.search(rf'scope="row">{re.escape(name)}</th>(.*?)</tr>', page, re.S)
    return re.findall(r"<td[^>]*>(?:<[^>]+>)?([^<]*)", row[1]) if row else []


def test_the_table_shows_what_runs_differ_in_with_figures_and_verdicts(
        client, people, criterion, jobs, address, django_assert_max_num_queries):
    verdicts = services.measure_file(
        actor=people[Role.CONSULTANT], model=criterion.model, artifact=jobs[0])
    client.force_login(people[Role.CONSULTANT])
    with django_assert_max_num_queries(60):
        page = client.get(address("training_runs")).content.decode()
    assert ">global_batch</th>" in page
    assert ">tp</th>" not in page  # alike in both
    assert ">tp</th>" in client.get(address("training_runs", setting="tp")).content.decode()
    runs = {run.artifact.name: run for run in described(training_logs(criterion.model))}
    assert set(runs) == {"gpu.log", "gpu-1.log", "gpu-2.log", "npu-1.log", "npu-2.log"}
    assert runs["gpu.log"].baseline == criterion.baseline
    assert runs["gpu.log"].environment["cards"] == "8 × A100"
    assert verdicts
    assert [(name, each.verdicts) for name, each in runs.items() if each.verdicts] == [
        ("npu-1.log", verdicts)]
    assert runs["npu-2.log"].figures["Last loss"] == "2.0008"
    assert runs["npu-2.log"].figures["Steps"] == "1–200"
    assert runs["npu-2.log"].figures["Time per step (ms)"] == "500"


def test_runs_beside_each_other_show_only_what_differs(client, people, jobs, address):
    client.force_login(people[Role.CONSULTANT])
    page = client.get(address("training_run_comparison", *jobs)).content.decode()
    assert cells(page, "global_batch") == ["8", "16"]
    assert cells(page, "CANN") == ["8.0.RC2", "8.1.RC1"]
    assert not cells(page, "tp")
    whole = client.get(address("training_run_comparison", *jobs, all="yes")).content.decode()
    assert cells(whole, "tp") == ["2", "2"]
    spec = client.get(address("training_run_curves", *jobs)).json()
    json.dumps(spec, allow_nan=False)
    rows = [row for panel in spec["vconcat"] for row in (
        panel["data"].get("values") or spec["datasets"][panel["data"]["name"]])]
    assert {row["curve"] for row in rows} == {f"#{file.job_id} {file.name}" for file in jobs}
    assert len(spec["vconcat"]) == 2  # losses, and the norms that Megatron prints
    losses = [row["value"] for row in rows if row["step"] == 200 and row["value"] > 1]
    assert losses == pytest.approx([2.0006, 2.0008])


def test_what_one_run_does_not_record_is_no_difference(people, jobs, store, model):
    store("alone.log", megatron_log(np.linspace(4, 2, 20)), model)
    runs = described(training_logs(model))
    assert {line.name for line in setting_lines(runs) if line.is_different} == {"global_batch"}
    assert [line.values for line in environment_lines(runs) if line.name == "CANN"] == [
        [None, "8.1.RC1", "8.0.RC2"]]


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 6])
def test_two_to_five_runs_are_compared(client, people, model, store, address, count):
    files = [store(f"{n}.log", megatron_log(np.linspace(4, 2, 20 + n)), model)
             for n in range(count)]
    client.force_login(people[Role.CONSULTANT])
    answer = client.get(address("training_run_comparison", *files), follow=True)
    assert "Choose two to 5 runs to compare." in answer.content.decode()


def test_customers_read_no_place_of_a_node_and_strangers_nothing(
        client, people, stranger, jobs, address):
    client.force_login(people[Role.REVIEWER])
    for name in ("training_runs", "training_run_comparison"):
        page = client.get(address(name, *jobs, setting="data", all="yes")).content.decode()
        assert "corpus" in page
        assert "secret-place" not in page
        assert "npu-7" not in page
    client.force_login(stranger)
    for name in ("training_runs", "training_run_comparison", "training_run_curves"):
        assert client.get(address(name, *jobs)).status_code == 404


def test_files_of_another_model_are_left_out(client, people, jobs, store, address):
    other = store("other.log", megatron_log(np.linspace(4, 2, 20)))
    client.force_login(people[Role.CONSULTANT])
    page = client.get(address("training_run_comparison", *jobs, other)).content.decode()
    assert "other.log" not in page


def test_the_api_gives_the_same_runs(people, jobs, model):
    api = APIClient()
    api.force_authenticate(people[Role.REVIEWER])
    rows = api.get(reverse("api:performance-runs", args=[model.pk])).json()["results"]
    assert [row["artifact"] for row in rows] == [jobs[1].pk, jobs[0].pk]
    assert rows[0]["settings"] == {"data": "…/corpus", "global_batch": "16", "tp": "2"}
    assert {"name": "iteration_time_ms", "value": 500.0, "unit": "ms"} in rows[0]["quantities"]
