"""What a verdict on a curve presupposes, what proves it, and what a document concludes."""

import pytest
from django.utils.translation import override

from assessments.models import Verdict
from delivery.documents.bilingual import in_language
from delivery.documents.pdf import html_of
from delivery.planning.services.planned_versions import set_planned_versions
from delivery.reports.conclusion_sentences import conclusion_sentence, improvements
from delivery.reports.facts.environments import source_environment
from delivery.reports.facts.node_checks import readiness
from delivery.reports.facts.planned_environment import planned_and_measured
from delivery.reports.facts.source import Source
from delivery.reports.facts.survey_platform import versions_in
from delivery.reports.facts.verdicts import judged_records
from delivery.reports.issue_checks.verdict_checks import conditions_recorded
from delivery.reports.models import Document
from delivery.reports.rendering import TEMPLATE, context_of
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.services import start_survey
from engagements.models import Role
from tests.delivery.conftest import NPU, STARTED, stored
from workers.models import Job, StoredReading

SHEETS = {"dataset": {"rows": 2, "different": 0}, "weights": {"rows": 8, "different": 1},
          "hyperparameters": {"rows": 0, "different": 0}, "random": {"rows": 0, "different": 0}}


@pytest.fixture(autouse=True)
def _english():
    with override("en"):
        yield


@pytest.fixture
def facts(delivered):
    def collect() -> dict:
        return in_language(judged_records(Source(Document(engagement=delivered, kind="TR"))), "en")

    return collect


@pytest.fixture
def answers(delivered, people):
    """Answers of the survey, for the engagement or for the model LLM."""
    survey = start_survey(actor=people[Role.CONSULTANT], engagement=delivered)
    llm = delivered.models.get(code="LLM")

    def give(**values):
        for key, value in values.items():
            question = survey.questionnaire.questions.get(key=key)
            survey.answers.create(question=question, value=value, changed_at=STARTED,
                                  model=llm if question.is_per_model else None,
                                  changed_by=people[Role.CONSULTANT])

    return give


def conditions(facts: dict) -> dict[str, list[str]]:
    return {row[1]: row[2:] for row in facts["tables"]["conditions"]["rows"] if row[0] == "LLM"}


@pytest.mark.slow
def test_the_configuration_check_is_cited_sheet_by_sheet(delivered, facts):
    nothing = ["no configuration check of both runs compares it", "not proven"]
    found = conditions(facts())
    assert found["Same initial weights"] == nothing
    assert found["Records aligned by"] == ["step number", "–"]
    assert found["Learning rates"] == ["not printed by both logs: not compared", "–"]
    model = delivered.models.get(code="LLM")
    file = stored(delivered, model, "check/result.xlsx", b"x")
    StoredReading.objects.create(artifact=file, kind="config_check", reader="msprobe_config_check",
                                 values={"form": "result", "differences": [], "sheets": SHEETS})
    found, number = conditions(facts()), f"E{file.pk}"
    assert found["Same initial weights"] == [
        f"{number} compares packs that are not known to be those of the baseline and of the judged "
        "run", "not proven"]
    _given_the_pack_of_the_judged_run(file)
    found = conditions(facts())
    assert found["Same data in the same order"] == [
        f"{number}: 2 entries compared, none differs", "shown"]
    assert found["Same initial weights"] == [f"{number}: 1 of 8 entries differ", "differs"]
    assert found["Same hyper-parameters"][1] == "shown"
    assert found["Same calls of random functions"] == [
        f"{number}: the sheet is empty, nothing was compared", "not proven"]


def _given_the_pack_of_the_judged_run(file) -> None:
    verdict = Verdict.objects.get(criterion__model__code="LLM", outcome="passed",
                                  criterion__definition__code="loss_mean_relative_error")
    run, baseline = verdict.measurement.job, verdict.criterion.baseline.artifact.job
    file.job = Job.objects.create(kind="acc.config_check", engagement=file.engagement,
                                  model=file.model, state="succeeded", finished_at=STARTED)
    file.save()
    file.job.inputs.create(slot="candidate", source_job=run)
    if baseline:
        file.job.inputs.create(slot="bench", source_job=baseline)


@pytest.mark.slow
def test_a_seed_is_shown_by_records_of_both_runs_only(delivered, facts):
    """The baseline's record on one side, the settings of the judged run on the other."""
    assert conditions(facts())["Same random seed"] == [
        "1234, recorded with the baseline and in the settings of the run", "shown"]
    job = Verdict.objects.get(criterion__model__code="LLM", outcome="passed",
                              criterion__definition__code="loss_mean_relative_error"
                              ).measurement.job
    job.parameters = {**job.parameters, "seed": 99}
    job.save()
    assert conditions(facts())["Same random seed"] == ["source: 1234; target: 99", "differs"]


@pytest.mark.slow
def test_data_type_and_parallel_sizes_are_shown_by_the_judged_runs_own_record(delivered, facts):
    """By what its script was typed with and, over that, by what its program printed."""
    verdict = Verdict.objects.get(criterion__model__code="LLM", outcome="passed",
                                  criterion__definition__code="loss_mean_relative_error")
    run, baseline = verdict.measurement, verdict.criterion.baseline
    baseline.environment = {**baseline.environment, "precision": "BFloat16", "并行": "TP=2, PP 2"}
    baseline.save()
    asked = "Same random seed", "Same data type", "Same parallel sizes"

    def record(script: str, **parameters) -> list[str]:
        run.job.command = []
        run.job.parameters = {"script": script, "interpreter": "bash", **parameters}
        run.job.save()
        found = conditions(facts())
        return [found[name][-1] for name in asked]

    assert record("# --seed 1234 --bf16\npython3 train.py\n") == ["not proven"] * 3
    assert record("SEED=1234\ntorchrun train.py --seed $SEED \\\n  --bf16\n"
                  "true --tensor-model-parallel-size=2; true --pipeline-model-parallel-size 2"
                  ) == ["shown"] * 3
    assert record("a --seed 1234\nb --seed 99 --fp16") == ["not proven", "differs", "not proven"]
    assert record("import x  # --seed 1234", interpreter="python3") == ["not proven"] * 3
    StoredReading.objects.create(
        artifact=run.artifact, kind="training_log", reader="x", values={"arguments": {
            "seed": "99", "params_dtype": "torch.bfloat16", "fp16": "False",
            "tensor_model_parallel_size": "4", "data_parallel_size": "1"}})
    assert record("a --seed 1234 --tp 2 --pp 2") == ["differs", "shown", "differs"]


@pytest.mark.slow
def test_what_the_survey_states_of_the_source_is_shown_as_stated(delivered, facts, answers):
    """It fills what no baseline records, is marked, and proves nothing."""
    answers(gpu_type="NVIDIA A800 80GB，8 卡/节点，1 节点", precision="bf16",
            gpu_software="固件 1.2，CUDA 11.8，nvcr.io/nvidia/pytorch:23.10",
            dataset="巡检报告语料 1.2 GB", hyper="lr=1e-4，seed 1234")
    rows = {row[0]: row[2:] for row in facts()["tables"]["environments"]["rows"]
            if row[1] in ("LLM", "all")}
    assert rows["Firmware"][0] == "1.2 (stated in the survey)"
    assert rows["Data type"][0] == "bf16 (stated in the survey)"
    assert rows["CUDA"][0] == "12.1"  # the baseline's own record goes first
    assert "Data type" in facts()["unrecorded"]
    extent = {row[0]: row[1] for row in facts()["tables"]["examined"]["rows"]}
    assert "with the source as stated in the survey" in extent["Environment: source against target"]


@pytest.mark.parametrize(("framework", "version", "expected"), [
    ("pytorch", "2.1.0", {"torch": "2.1.0"}),
    ("pytorch", "1.15", {"torch": "2.1.0", "framework": "PyTorch 1.15"}),  # they contradict
    ("tensorflow", "1.15", {"tensorflow": "1.15"}), ("onnx", "1.15", {"framework": "onnx 1.15"})])
def test_a_framework_is_stated_of_the_models_that_use_it(delivered, answers, framework, version,
                                                         expected):
    """The versions of the source platform are one answer for all models; a framework in a version
    is the item of its package, which the target records."""
    answers(gpu_software="CUDA 11.8，PyTorch 2.1.0", framework=framework,
            framework_version=version)
    found = source_environment(Sheet(delivered.survey), delivered.models.get(code="LLM"))
    texts = {item: fact.text for item, fact in found.items()}
    assert {item: texts[item] for item in ("torch", "tensorflow", "framework")
            if item in texts} == expected
    assert texts["cuda"] == "11.8"


def test_a_share_is_measured_per_hundred(delivered, facts):
    measurement = Verdict.objects.get(
        criterion__model__code="LLM", outcome="passed",
        criterion__definition__code="loss_mean_relative_error").measurement
    measurement.value, measurement.unit = 0.995, "%"
    measurement.save()
    assert {row["measured"] for row in facts()["metrics"]
            if row["artifact"] == measurement.artifact_id} == {"99.5 %"}


def test_a_tag_of_an_image_is_no_version():
    assert versions_in("驱动 535.129.03，CUDA 12.1，PyTorch 2.1.0，nvcr.io/x/pytorch:23") == {
        "driver": "535.129.03", "cuda": "12.1", "torch": "2.1.0"}
    assert versions_in("nvcr.io/nvidia/pytorch:23.10") == {}


PASSED = {"conclusion": "passed", "summary": {"passed": 11}, "issues": []}


def test_all_criteria_are_passed_only_where_every_aspect_has_one():
    assert conclusion_sentence({**PASSED, "coverage": {"agreed": 4, "all": 4}}) == (
        "All criteria are passed.")
    found = conclusion_sentence({**PASSED, "coverage": {"agreed": 11, "all": 40}})
    assert found == ("The 11 agreed criteria are passed; of 40 aspects that the models' routes ask "
                        "for 29 have no criterion.")
    assert conclusion_sentence(PASSED) == "The 11 agreed criteria are passed."


def test_the_conclusion_says_what_is_not_proved_and_what_is_worse():
    open_ = {**PASSED, "metrics": [{"runs_judged": 1}, {"runs_judged": 3}],
             "environment_cells": {"all": 21, "source": 0, "target": 21},
             "conditions": {"all": 5, "proven": 0, "differs": 1}}
    assert conclusion_sentence(open_) == (
        "The 11 agreed criteria are passed. Not proved: 21 of 21 items of the target's environment "
        "are not recorded; 5 of 5 conditions of the compared curves are not shown to hold, 1 of "
        "them differ; how far figures scatter: 1 criterion is judged on one run.")
    known = {**open_, "metrics": [], "environment_cells": {"all": 21, "source": 0, "target": 0},
             "conditions": {"all": 5, "proven": 5, "differs": 0}, "worse": [
                 {"model": "LLM", "name": "Throughput", "against": "source", "by": "3.2%"}] * 4}
    assert conclusion_sentence(known) == (
        "The 11 agreed criteria are passed. Worse: " + "; ".join(
            ["LLM Throughput, by 3.2% against the source"] * 3) + "; 1 more.")


@pytest.mark.parametrize(("target", "proven", "problems"), [(21, 0, 1), (20, 0, 0), (21, 1, 0)])
def test_a_report_that_knows_no_condition_at_all_is_not_issued(
        delivered, target, proven, problems):
    document = Document(engagement=delivered, kind="TR", snapshot={
        "environment_cells": {"all": 21, "source": 0, "target": target},
        "conditions": {"all": 5, "proven": proven, "differs": 0}, "metrics": [{"artifact": 1}]})
    assert len(list(conditions_recorded(document))) == problems


def test_improvements_are_none_only_where_nothing_is_open():
    closed = {**PASSED, "coverage": {"agreed": 4, "all": 4},
              "conditions": {"all": 5, "proven": 5, "differs": 0}}
    assert list(improvements(closed, {})) == []
    for fact in ({"deviations": [1]}, {"open_points": ["x"]}, {"unrecorded": ["CANN"]},
                 {"coverage": {"agreed": 3, "all": 4}},
                 {"conditions": {"all": 5, "proven": 4, "differs": 0}}):
        assert len(list(improvements({**closed, **fact}, {}))) == 1


@pytest.mark.slow
def test_the_report_names_what_is_not_proven(report):
    page = html_of(TEMPLATE, context_of(report.snapshot, "en"), "en")
    assert "Not proved: " in page
    assert "conditions of the compared curves are not shown to hold" in page
    assert "of the others that they are there" in page
    assert "All criteria are passed" not in page
    assert "None required by the results" not in page


def test_an_environment_is_ready_only_where_it_is_known_and_as_planned(delivered, people):
    """Checks that succeed do not tell which versions run."""
    def found() -> dict:
        source = Source(Document(engagement=delivered, kind="EC"))
        return in_language(readiness(source, planned_and_measured(source)), "en")

    llm = delivered.models.get(code="LLM")
    node = delivered.jobs.exclude(node=None).last().node
    assert found()["state"] == "not_measured"
    for kind in ("env.npu_info", "env.host_probe"):
        delivered.jobs.create(kind=kind, model=llm, node=node, stage="env", state="succeeded",
                              started_at=STARTED, finished_at=STARTED)
    node.software = {**NPU, "arch": "aarch64"}
    node.save()
    assert found()["state"] == "passed"
    set_planned_versions(actor=people[Role.CONSULTANT], engagement=delivered,
                         versions={"driver": "25.0"})
    assert (found()["state"], found()["differing"]) == ("not_provable", ["Driver"])
    node.software = {**node.software, "cann": "", "driver": "25.0"}
    node.save()
    assert (found()["state"], found()["unrecorded"]) == ("not_provable", ["CANN"])
