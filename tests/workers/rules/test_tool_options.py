"""Options against the release of their tool: the node's, the survey's, or none that is known."""

import pytest
from django.utils import timezone

from engagements.errors import InvalidInput
from engagements.services import add_model
from workers import kinds, rule_checks, services
from workers.models import Job, JobState, Node
from workers.rules.tool_options import EVERY, UNKNOWN, named_in, rows_of, used_by
from workers.rules.version_matrix import table, version

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
    assert [row for row in rows if row["since"] not in ("", EVERY, UNKNOWN)
            and not version(row["since"])] == []
    named = [(row["tool"], name) for row in rows for name in row["option"].split()]
    assert len(set(named)) == len(named)


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


# The kinds that compose commands of tools whose every option has a row.
COMPOSED = {"atc": ("inf.atc", "inf.atc_singleop"), "aoe": ("perf.aoe",), "amct": ("inf.amct",),
            "msopgen": ("adapt.custom_operator",),
            "msprof": ("perf.msprof", "inf.pyacl_profile"), "msmodelslim": ("inf.quant",),
            "mindie": ("inf.mindie_run", "inf.mindie_bench", "inf.mindie_serve"),
            "vllm": ("inf.vllm_serve", "inf.vllm_bench")}
OF_ANOTHER = {"--install-path"}  # of the package that msopgen's project leaves


def sets_of_values(kind):
    """The example's values, and those with each other parameter set; launchers have options of
    their own."""
    base = kind.example_parameters()
    yield base
    for parameter in kind.parameters:
        samples = {"flag": (True,), "choice": parameter.choices, "integer": (parameter.minimum,),
                   "number": (parameter.minimum,), "path": ("/x",), "words": ()}
        if parameter.name != "launcher":
            for value in samples.get(parameter.type, ("x",)):
                yield {**base, parameter.name: value}


def composed(kind, tool):
    named = set()
    for values in sets_of_values(kind):
        try:
            argv = kind.argv(kind.clean(values))
        except InvalidInput:  # one that goes with another one only
            continue
        named |= {word for tools, _program, words in named_in(argv) if tool in tools
                  for word in words if word.startswith("--") and len(word) > 2}
    return named


@pytest.mark.parametrize(("tool", "code"), [(t, code) for t, codes in COMPOSED.items()
                                            for code in codes])
def test_every_option_that_a_kind_composes_has_its_row(tool, code):
    named = composed(kinds.get(code), tool)
    assert code == "inf.mindie_serve" or named
    assert named - set(rows_of(tool)) - OF_ANOTHER == set()


def test_keys_of_settings_are_options_too():
    kind = kinds.get("inf.mindie_serve")
    used = used_by(kind.argv(kind.clean({"weights": "/w", "model_name": "Qwen", "max_batch": 8})))
    assert used == {"mindie": {"program": "./bin/mindieservice_daemon",
                               "options": ["maxBatchSize"]}}
    kind = kinds.get("inf.vllm_serve")
    used = used_by(kind.argv(kind.clean({
        "weights": "/w", "model_name": "Qwen",
        "extra": """--additional-config '{"torchair_graph_config": {"enabled": true}}'"""})))
    assert used["vllm_ascend"]["options"] == ["torchair_graph_config"]


def test_a_setting_that_the_release_has_no_longer_is_refused(people, model, ready, monkeypatch):
    monkeypatch.setattr("workers.rules.facts.stored._providers", [
        lambda _model: {"surveyed_versions": {"vllm_ascend": "0.13.0"}}])
    job = services.queue_job(actor=people["consultant"], kind="inf.vllm_serve", model=model,
                             node=ready, parameters={
        "weights": "/w", "model_name": "Qwen",
        "extra": """--additional-config '{"ascend_scheduler_config": {}}'"""})
    assert [(hit.severity, hit.value) for hit in hits(job, "R-ENV-23")] == [
        ("warn", "ascend_scheduler_config (≥ 0.9.1, < 0.13.0); vLLM Ascend 0.13.0")]


def test_what_no_public_source_says_is_said(people, model, ready):
    job = services.queue_job(actor=people["consultant"], kind="inf.mindie_run", model=model,
                             node=ready, parameters={"weights": "/w"})
    assert [(hit.place, hit.value) for hit in hits(job, "R-ENV-24")] == [
        ("MindIE", "--input_texts (?), --max_output_length (?), --model_path (?)")]


def test_options_of_mindformers_in_a_projects_run(people, model, ready, monkeypatch):
    monkeypatch.setattr("workers.rules.facts.stored._providers", [
        lambda _model: {"surveyed_versions": {"mindformers": "1.2.0"}}])
    job = services.queue_job(
        actor=people["consultant"], kind="adapt.project_train", model=model, node=ready,
        parameters={"script": "~/mindformers/run_mindformer.py",
                    "arguments": "--config a.yaml --register_path research/qwen"})
    assert [hit.value for hit in hits(job, "R-ENV-23")] == [
        "--register_path (≥ 1.3.0); MindFormers 1.2.0"]


def test_usual_commands_need_no_release_of_their_own():
    kind = kinds.get(TRAIN)
    assert used_by(kind.argv(kind.clean({}))) == {}
