"""Rules over stored readings: before a job, on what it left, on uploads, on a node."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.services import add_model
from toolreaders import read_file
from toolreaders.base import ReadError
from workers import rule_checks, services
from workers.artifacts.artifact_store import keep_reading, store_file
from workers.models import Artifact, Job, Node

SAMPLES = Path(__file__).parents[2] / "samples"
TRAIN = "adapt.megatron_train"
PAIR = b"torch              2.1.0\ntorch-npu          2.1.0.post8\n"


@pytest.fixture
def ready(db):
    return Node.objects.create(name="n1", host="127.0.0.1", port=22, username="x", cards_total=8,
                               state=Node.State.READY)


@pytest.fixture
def model(people, engagement):
    return add_model(actor=people["manager"], engagement=engagement, code="LLM", name="巡检报告",
                     framework="PyTorch")


def read_on(node, kind, name, path=None, text=b"") -> Artifact:
    """A finished job of that kind on the node, with one read file."""
    from io import BytesIO

    content = (SAMPLES / path).read_bytes() if path else text
    now = timezone.now()
    job = Job.objects.create(kind=kind, node=node, state="succeeded", finished_at=now,
                             started_at=now - timedelta(seconds=3))
    artifact = store_file(stream=BytesIO(content), name=name, job=job)
    keep_reading(artifact, read_file(artifact.file.path))
    audit_log.record(actor=None, action="artifact.read", target=artifact)
    return artifact


def queue(people, model, node, **parameters):
    return services.queue_job(actor=people["consultant"], kind=TRAIN, model=model, node=node,
                              parameters=parameters)


def test_unpaired_packages_of_the_last_reading_refuse_with_file_and_line(people, model, ready):
    read_on(ready, "env.software", "packages.txt", "node/pip_frameworks.txt")
    with pytest.raises(InvalidInput, match=r"R-ENV-18") as caught:
        queue(people, model, ready)
    assert "packages.txt:2" in caught.value.message
    read_on(ready, "env.software", "packages.txt", text=PAIR)
    assert queue(people, model, ready).pk


def test_last_reading_of_each_kind_counts(ready):
    read_on(ready, "env.npu_info", "log.txt", "node/23.0.5_warning_then_reset_before.txt")
    sick = rule_checks.of_node(ready)
    assert [(hit.rule, hit.value) for hit in sick.hits] == [("R-ENV-01", "Warning")]
    read_on(ready, "env.npu_info", "log.txt", "node/24.1.rc1.b030_910B3_8cards.txt")
    well = rule_checks.of_node(ready)
    assert well.hits == []
    assert "R-ENV-01" in well.clear
    assert all(entry.reason for entry in well.not_checked)


def test_other_frameworks_of_the_node_are_no_matter_of_a_job(people, model, ready):
    Node.objects.filter(pk=ready.pk).update(software={"mindspore": "2.3.0", "python": "3.12.1"})
    ready.refresh_from_db()
    assert queue(people, model, ready).pk
    model.framework = "MindSpore 2.3"
    with pytest.raises(InvalidInput, match="R-ENV-02"):
        queue(people, model, ready)


def test_conversion_is_checked_against_the_chip_without_cards(people, model, ready):
    read_on(ready, "env.npu_info", "log.txt", "node/24.1.rc1.b030_910B3_8cards.txt")
    with pytest.raises(InvalidInput, match="R-INF-06"):
        services.queue_job(actor=people["consultant"], kind="inf.atc", model=model, node=ready,
                           parameters={"model_file": "~/m.onnx", "soc_version": "Ascend310P3"})


@pytest.mark.slow
def test_upload_is_judged_and_its_page_links_the_file(client, people, model):
    content = (SAMPLES / "accuracy/config_check/result.xlsx").read_bytes()
    artifact = services.upload_artifact(
        actor=people["consultant"], engagement=model.engagement, model=model,
        upload=SimpleUploadedFile("result.xlsx", content))
    artifact.refresh_from_db()
    hits = rule_checks.hits_of(artifact.rules)
    assert sorted((h.rule, h.place, h.source) for h in hits if h.rule == "R-ACC-02") == [
        ("R-ACC-02", "summary: dataset", "result.xlsx:4"),
        ("R-ACC-02", "summary: env", "result.xlsx:2"),
        ("R-ACC-02", "summary: hyperparameters", "result.xlsx:6"),
        ("R-ACC-02", "summary: weights", "result.xlsx:5")]
    client.force_login(people["consultant"])
    page = client.get(reverse("workers:artifact", args=[artifact.pk])).content.decode()
    assert "R-ACC-02" in page
    assert "result.xlsx:4" in page
    dump = _kind("acc.dump")
    warned = rule_checks.outcome_for(
        dump, dump.clean({"script": "~/t.py", "config": "~/c.json"}), None, model)
    assert [hit.rule for hit in warned.hits] == ["R-ACC-01"]


def _kind(code):
    from workers import kinds

    return kinds.get(code)


STRATEGY = (b'{\n "data_parallel": 8,\n "model_parallel": 4,\n "pipeline_parallel": 2,\n'
            b' "tensor_parallel_mode": "row_split"\n}')


def test_processes_are_those_of_the_parallel_strategy(people, model, ready):
    """The walkthrough's own sizes (seed S3): 8 × 4 × 2 = 64 processes, started with 8 a node."""
    artifact = services.upload_artifact(
        actor=people["consultant"], engagement=model.engagement, model=model,
        upload=SimpleUploadedFile("parallel_strategy.json", STRATEGY))
    reading = artifact.readings.get()
    assert (reading.kind, reading.values["processes"]) == ("parallel_strategy", 64)
    given = {"script": "~/train.py", "launcher": "mpirun", "cards": 8,
             "arguments": "--parallel_strategy=parallel_strategy.json"}
    kind = _kind("adapt.smoke_train")

    def outcome(nodes, **changed):
        values = kind.clean({**given, **changed})
        return rule_checks.outcome_for(kind, values, ready, model, nodes=nodes)

    hit, = [hit for hit in outcome(4).hits if hit.rule == "R-PAR-03"]
    assert (hit.severity, hit.value, hit.source) == (
        "block", "8, 4, 2, 32", "parallel_strategy.json:2; parallel_strategy.json:3; "
                                "parallel_strategy.json:4")
    assert "R-PAR-03" in outcome(8).clear
    smaller = outcome(1, arguments="--steps 10")  # a trial without the file is no matter of it
    assert "R-PAR-03" not in [*smaller.clear, *[hit.rule for hit in smaller.hits]]
    with pytest.raises(InvalidInput, match="R-PAR-03"):
        services.queue_job(actor=people["consultant"], kind=kind.code, model=model, node=ready,
                           parameters=given)


@pytest.mark.parametrize("text", ['{"data_parallel": 8}', '{"data_parallel": 8, "x": 1}'])
def test_a_single_size_is_no_parallel_strategy(tmp_path, text):
    path = tmp_path / "sizes.json"
    path.write_text(text)
    with pytest.raises(ReadError):
        read_file(path)


def test_damaged_settings_file_is_named(people, engagement):
    artifact = services.upload_artifact(
        actor=people["consultant"], engagement=engagement,
        upload=SimpleUploadedFile("config.json", b'{"task": "tensor", // all of it\n "step": []}'))
    artifact.refresh_from_db()
    hits = rule_checks.hits_of(artifact.rules)
    assert [(hit.rule, hit.place, hit.artifact) for hit in hits] == [
        ("R-CFG-22", "config.json", artifact.pk)]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_job_keeps_what_the_rules_say_of_its_files(client, people, model, node):
    from workers.dispatch import runner

    for kind, given in (("env.npu_info", {}), ("env.software", {"folders": "~/Ascend"})):
        assert runner.drive(services.queue_job(
            actor=people["operator"], kind=kind, node=node, parameters=given)).state == "succeeded"
    found = rule_checks.of_node(node)
    assert {"R-ENV-01", "R-ENV-05", "R-ENV-06", "R-ENV-07", "R-ENV-18"} <= set(found.clear)
    job = runner.drive(services.queue_job(
        actor=people["consultant"], kind="acc.dump", model=model, node=node,
        parameters={"script": "~/projects/inspection/run.py", "arguments": "dump", "ranks": 2,
                    "config": "~/data/msprobe.json"}))
    hits = rule_checks.hits_of(job.results["rule_outcome"])
    assert [(hit.rule, hit.severity, hit.source) for hit in hits] == [
        ("R-ACC-07", "block", "dump_config.json:1")]
    client.force_login(people["consultant"])
    page = client.get(reverse("workers:job", args=[job.pk])).content.decode()
    assert "dump_config.json:1" in page
    page = client.get(reverse("workers:node", args=[node.pk])).content.decode()
    assert "缺少数据" in page or "lack data" in page


def test_api_gives_the_rules_of_a_node_to_the_firm_only(people, ready):
    read_on(ready, "env.npu_info", "log.txt", "node/23.0.5_warning_then_reset_before.txt")
    api = APIClient()
    api.force_authenticate(people["consultant"])
    found = api.get(f"/api/v1/nodes/{ready.pk}/rules/").json()
    assert found["hits"][0]["source"] == "log.txt:7"
    assert found["not_checked"][0]["reason"]
    api.force_authenticate(people["reviewer"])
    assert api.get(f"/api/v1/nodes/{ready.pk}/rules/").status_code == 404


def test_facts_of_a_node_take_three_queries(django_assert_num_queries, ready):
    for _n in range(3):
        read_on(ready, "env.npu_info", "log.txt", "node/24.1.rc1.b030_910B3_8cards.txt")
        read_on(ready, "env.software", "packages.txt", text=PAIR)
    with django_assert_num_queries(3):  # readings, cards, clones of Megatron-LM
        rule_checks.of_node(ready)
