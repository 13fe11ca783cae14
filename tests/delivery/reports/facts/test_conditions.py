"""What a verdict on a curve presupposes, what proves it, and what a document concludes."""

import pytest
from django.utils.translation import override

from assessments.models import Verdict
from delivery.documents.bilingual import in_language
from delivery.documents.pdf import html_of
from delivery.planning.services.planned_versions import set_planned_versions
from delivery.reports import services
from delivery.reports.conclusion_sentences import conclusion_sentence, improvements
from delivery.reports.facts.environments import source_environment
from delivery.reports.facts.node_checks import readiness
from delivery.reports.facts.planned_environment import planned_and_measured
from delivery.reports.facts.source import Source
from delivery.reports.facts.survey_platform import versions_in
from delivery.reports.facts.verdicts import judged_records
from delivery.reports.models import Document
from delivery.reports.rendering import TEMPLATE, context_of
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.services import start_survey
from engagements.models import Role
from tests.delivery.conftest import NPU, STARTED, stored
from workers.models import StoredReading

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


def test_the_configuration_check_is_cited_sheet_by_sheet(delivered, facts):
    nothing = ["no configuration check of both runs compares it", "not proven"]
    assert conditions(facts())["Same initial weights"] == nothing
    model = delivered.models.get(code="LLM")
    file = stored(delivered, model, "check/result.xlsx", b"x")
    StoredReading.objects.create(artifact=file, kind="config_check", reader="msprobe_config_check",
                                 values={"form": "result", "differences": [], "sheets": SHEETS})
    found, number = conditions(facts()), f"E{file.pk}"
    assert found["Same data in the same order"] == [
        f"{number}: 2 entries compared, none differs", "shown"]
    assert found["Same initial weights"] == [f"{number}: 1 of 8 entries differ", "differs"]
    assert found["Same hyper-parameters"][1] == "shown"
    assert found["Same calls of random functions"] == [
        f"{number}: the sheet is empty, nothing was compared", "not proven"]


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


@pytest.mark.parametrize(("framework", "expected"), [
    ("pytorch", ("2.1.0", "PyTorch 1.15")), ("tensorflow", (None, "TensorFlow 1.15")),
    ("onnx", (None, "onnx 1.15"))])
def test_a_framework_is_stated_of_the_models_that_use_it(delivered, answers, framework, expected):
    """The versions of the source platform are one answer for all models."""
    answers(gpu_software="CUDA 11.8，PyTorch 2.1.0", framework=framework, framework_version="1.15")
    found = source_environment(Sheet(delivered.survey), delivered.models.get(code="LLM"))
    texts = {item: fact.text for item, fact in found.items()}
    assert (texts.get("torch"), texts["framework"]) == expected
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


def test_improvements_are_none_only_where_nothing_is_open():
    closed = {**PASSED, "coverage": {"agreed": 4, "all": 4},
              "conditions": {"all": 5, "proven": 5, "differs": 0}}
    assert list(improvements(closed, {})) == []
    for fact in ({"deviations": [1]}, {"open_points": ["x"]}, {"unrecorded": ["CANN"]},
                 {"coverage": {"agreed": 3, "all": 4}},
                 {"conditions": {"all": 5, "proven": 4, "differs": 0}}):
        assert len(list(improvements({**closed, **fact}, {}))) == 1


def test_the_report_names_what_is_not_proven(delivered, people):
    draft = services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)
    page = html_of(TEMPLATE, context_of(draft.snapshot, "en"), "en")
    assert "the verdicts do not prove the others" in page
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
