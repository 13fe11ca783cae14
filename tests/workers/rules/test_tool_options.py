"""Options against the release of their tool: the node's, the survey's, or none that is known."""

import pytest
from django.utils import timezone

from engagements.errors import InvalidInput
from engagements.services import add_model
from workers import kinds, rule_checks, services
from workers.models import Job, JobState, Node
from workers.rules.tool_options import used_by
from workers.rules.version_matrix import table

TRAIN = "adapt.megatron_train"


@pytest.fixture
def ready(db):
    return Node.objects.create(name="n1", host="127.0.0.1", port=22, username="x", cards_total=8,
                               state=Node.State.READY)


@pytest.fixture
def model(people, engagement):
    return add_model(actor=people["manager"], engagement=engagement, code="M", name="模型",
                     name_en="Model")


def installed(node, person, mindspeed, megatron, folder="~"):
    Job.objects.create(kind="env.mindspeed_install", node=node, created_by=person,
                       state=JobState.SUCCEEDED, finished_at=timezone.now(), parameters={
                           "mindspeed_branch": mindspeed, "megatron_branch": megatron,
                           "folder": folder})


def queue(people, model, node, **parameters):
    return services.queue_job(actor=people["consultant"], kind=TRAIN, model=model, node=node,
                              parameters=parameters)


def hits(job, rule):
    return [hit for hit in rule_checks.hits_of_job(job.results) if hit.rule == rule]


def test_every_row_states_a_bound_and_its_source():
    rows = table("options")
    assert [row for row in rows if not row["source"] or not (row["since"] or row["until"])] == []
    assert len({(row["tool"], row["option"]) for row in rows}) == len(rows)


@pytest.mark.parametrize("asked", [{"skip_iterations": "5,6"}, {"qat_scheme": "w8a16-mxfp8"},
                                   {"extra": "--iterations-to-skip 7"}])
def test_the_shipped_branch_does_not_know_the_option(people, model, ready, asked):
    installed(ready, people["consultant"], "2.0.0_core_r0.8.0", "core_r0.8.0")
    with pytest.raises(InvalidInput, match="R-ENV-23"):
        queue(people, model, ready, **asked)


def test_a_newer_branch_knows_it(people, model, ready):
    installed(ready, people["consultant"], "26.1.0_core_r0.12.1", "core_r0.12.1")
    job = queue(people, model, ready, skip_iterations="5,6", qat_scheme="w8a16-mxfp8")
    assert hits(job, "R-ENV-23") == hits(job, "R-ENV-24") == []


def test_another_clone_is_not_known_and_says_so(people, model, ready):
    installed(ready, people["consultant"], "2.0.0_core_r0.8.0", "core_r0.8.0", folder="/opt")
    job = queue(people, model, ready, skip_iterations="5")
    assert hits(job, "R-ENV-23") == []
    assert [(hit.place, hit.value) for hit in hits(job, "R-ENV-24")] == [
        ("Megatron-LM", "--iterations-to-skip (≥ 0.12.0)")]


def test_what_the_survey_states_is_a_warning(people, model, ready, monkeypatch):
    monkeypatch.setattr("workers.rules.facts.stored._providers", [
        lambda _model: {"surveyed_versions": {"mindspeed": "2.0.0_core_r0.8.0"}}])
    job = queue(people, model, ready, skip_iterations="5")
    assert [(hit.severity, hit.place) for hit in hits(job, "R-ENV-23")] == [
        ("warn", "--iterations-to-skip")]


def test_options_of_programs_inside_a_script_are_seen():
    assert used_by(["sh", "-c", 'exec /opt/bin/atc --model="$m" --graph_op_shrink=enable']) == {
        "atc": {"program": "/opt/bin/atc", "options": ["--graph_op_shrink"]}}


def test_options_of_a_service_whose_command_is_a_setting_are_seen():
    kind = kinds.get("inf.vllm_serve")
    used = used_by(kind.argv(kind.clean({"weights": "/w", "model_name": "Qwen", "cards": 2,
                                         "data_parallel": 2, "expert_parallel": True})))
    assert used["vllm"]["options"] == ["--data-parallel-size", "--enable-expert-parallel"]
    assert "vllm" in used_by(["vllm", "bench", "serve"])


def test_usual_commands_need_no_release_of_their_own():
    kind = kinds.get(TRAIN)
    assert used_by(kind.argv(kind.clean({}))) == {}
