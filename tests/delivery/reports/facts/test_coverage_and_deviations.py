"""What a report says of aspects without a criterion, of what was examined, and of open points."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from assessments.definitions.aspects import aspect_of
from assessments.definitions.standard_library import STANDARD
from delivery.documents.bilingual import in_language
from delivery.documents.pdf import html_of
from delivery.planning.models import Milestone, Plan, ProjectIssue
from delivery.planning.services.planned_versions import set_planned_versions
from delivery.reports.facts.source import Source
from delivery.reports.facts.verdicts import judged_records
from delivery.reports.issue_checks import verdict_checks
from delivery.reports.models import Document
from delivery.reports.rendering import TEMPLATE, context_of
from delivery.surveys.services import start_survey
from engagements.models import Role
from tests.delivery.conftest import STARTED, enter, stored
from workers.models import StoredReading

TODAY = date.today()


@pytest.fixture
def facts(delivered):
    """The facts of a fresh report in English."""
    def collect(kind: str = "TR") -> dict:
        return in_language(judged_records(Source(Document(engagement=delivered, kind=kind))), "en")

    return collect


def issue(engagement, people, **fields) -> ProjectIssue:
    return ProjectIssue.objects.create(**{
        "engagement": engagement, "number": 1, "description": "NaN after step 9000",
        "level": "blocking", "raised_on": TODAY, "due_on": TODAY, "owner": people[Role.MANAGER],
        **fields})


def comparison(engagement, **values) -> None:
    for model in engagement.models.all():
        file = stored(engagement, model, f"{model.code}/result.xlsx", b"x")
        StoredReading.objects.create(artifact=file, kind="config_check",
                                     reader="msprobe_config_check", values={
            "form": "result", "differences": [], "not_compared": [], **values})


def test_every_standard_quantity_shows_an_aspect():
    assert [d.code for d in STANDARD if aspect_of(d.quantity) is None] == []
    assert aspect_of("score:gsm8k") == "accuracy"
    assert aspect_of("colour") is None


@pytest.mark.slow
def test_an_aspect_without_a_criterion_says_so(facts):
    table = facts()["tables"]["coverage"]
    assert [column["title"] for column in table["columns"]] == [
        "Models", "Delivery", "Function", "Accuracy", "Performance", "Stability"]
    rows = by_model(table)
    none = "no criterion agreed"
    assert rows["PSR", "Training"] == [
        none, "Loss-curve mean relative error: Not measured", none, none]
    assert rows["PSR", "Inference"] == [none] * 4
    assert len(rows["LLM", "Training"][1].splitlines()) == 2
    assert facts()["coverage"] == {"agreed": 2, "all": 16}
    assert [row[:2] for row in table["rows"]] == [
        ["LLM", "Training"], ["LLM, PSR", "Inference"], ["PSR", "Training"]]  # alike: one row


def by_model(table: dict) -> dict[tuple[str, str], list[str]]:
    """The cells of the aspects by model and side."""
    return {(code, row[1]): row[2:] for row in table["rows"] for code in row[0].split(", ")}


@pytest.mark.slow
def test_what_the_route_does_not_ask_for_is_not_counted(delivered, facts):
    """An offline model has no service; a model for inference only no training."""
    delivered.models.filter(code="PSR").update(inference_route="offline", scope="inference")
    delivered.models.filter(code="LLM").update(scope="training")
    rows = by_model(facts()["tables"]["coverage"])
    assert ("LLM", "Inference") not in rows
    assert rows["PSR", "Inference"][3] == "not required"
    assert rows["PSR", "Training"][1].endswith("Not measured")  # a signed criterion stays in sight
    assert facts()["coverage"] == {"agreed": 2, "all": 4 + 3 + 1}


def test_the_conclusion_says_what_it_does_not_cover(report):
    page = html_of(TEMPLATE, context_of(report.snapshot, "en"), "en")
    assert "Criteria are agreed for 2 of 16 aspects" in page
    assert "None was found" not in page


def test_what_was_not_examined_is_never_free_of_deviations(facts):
    found = facts()
    rows = {row[0]: row[1:] for row in found["tables"]["examined"]["rows"]}
    assert rows["Configuration of both runs (msprobe config_check)"] == [
        "0 of 2 models judged by a curve were compared", "not fully examined"]
    assert rows["Dates of the contract"] == ["no end date is recorded", "not fully examined"]
    assert found["is_examined"] is False


def test_findings_of_a_configuration_check_are_deviations(delivered, facts):
    comparison(delivered, not_compared=["random"], differences=[
        {"sheet": "env", "item": "HCCL_DETERMINISTIC", "npu": "false", "bench": "true",
         "level": "error"}] + [{"sheet": "pip", "item": f"p{n}", "level": "warning"}
                               for n in range(7)])
    found = [row for row in facts()["deviations"] if row["model"] == "LLM"]
    assert found[0] == {"model": "LLM", "name": "env: HCCL_DETERMINISTIC",
                        "message": "true → false (error)"}
    assert [row["message"] for row in found[-2:]] == [
        "3 more differences in the raw file", "not compared: random"]


@pytest.mark.slow
def test_an_end_of_contract_in_the_past_is_a_deviation_and_an_open_point(delivered, facts):
    delivered.starts_on, delivered.ends_on = date(2024, 1, 1), date(2024, 12, 31)
    delivered.save()
    assert {"model": "–", "name": "End of the engagement",
            "message": "ended on 2024-12-31, before this document"} in facts()["deviations"]
    assert "The period of the contract ended on 2024-12-31." in facts()["open_points"]
    delivered.ends_on = TODAY + timedelta(days=1)
    delivered.save()
    assert not any("2024" in point for point in facts()["open_points"])


@pytest.mark.slow
@pytest.mark.parametrize(("fields", "is_open"), [
    ({}, True), ({"level": "major"}, True), ({"level": "minor"}, False),
    ({"level": "minor", "affects_final": True}, True), ({"closed_on": TODAY}, False)])
def test_severe_open_issues_stand_in_the_conclusion(delivered, people, facts, fields, is_open):
    row = issue(delivered, people, **fields)
    printed = [point for point in facts()["open_points"] if f"I-{row.number:03}" in point]
    assert bool(printed) is is_open
    assert bool(row.closed_on) or any(
        entry["message"] == "NaN after step 9000" for entry in facts()["deviations"])


def test_an_issue_that_holds_up_the_final_acceptance_stops_its_issue(delivered, people):
    document = Document(engagement=delivered, kind="FA")
    assert list(verdict_checks.no_severe_issue(document)) == []
    issue(delivered, people, affects_final=True)
    assert "I-001" in next(verdict_checks.no_severe_issue(document)).sentence


@pytest.mark.slow
def test_a_payment_at_a_provisional_acceptance_that_never_was_is_open(delivered, facts):
    sentence = "A provisional acceptance is agreed, and none was concluded."
    assert sentence not in facts("FA")["open_points"]
    Milestone.objects.create(plan=Plan.objects.create(engagement=delivered, starts_on=TODAY),
                             name="初验", percent=Decimal(40), trigger="preliminary")
    assert sentence in facts("FA")["open_points"]
    assert sentence not in facts("PA")["open_points"]


@pytest.mark.slow
def test_deliverables_are_held_against_the_agreed_list(delivered, facts, people):
    """A log is none of them; what is missing is named, and the reviewer's page says so. What nobody
    agreed on is not owed; one content for several models is named."""
    found = facts()
    assert found["missing_deliverables"] == []
    assert found["tables"]["deliverables"]["empty"] == "not agreed"
    enter(delivered, people, deliverables=["code", "scripts", "weights", "report", "manual"])

    code, scripts, weights, guide = (
        "Source code of the models", "Training and inference scripts",
        "Weights or converted models", "User guide")
    models = {code: delivered.models.get(code=code) for code in ("LLM", "PSR")}
    jobs = {code: delivered.jobs.create(
        kind="adapt.transplant", model=model, stage="train_adapt", state="succeeded",
        started_at=STARTED, finished_at=STARTED) for code, model in models.items()}
    stored(delivered, models["LLM"], "log.txt", b"log", job=jobs["LLM"])
    assert facts()["missing_deliverables"] == [code, scripts, weights, guide]
    stored(delivered, models["LLM"], "train_npu.py", b"pass", job=jobs["LLM"])
    lacks = "(1 of 2 models; missing: PSR)"
    found = facts()
    rows = found["tables"]["deliverables"]["rows"]
    assert found["missing_deliverables"] == [
        f"{code} {lacks}", f"{scripts} {lacks}", weights, guide]
    assert [row[6] for row in rows] == ["in part", "in part", "missing", "there", "missing"]
    assert rows[0][4:6] == ["1", "1 of 2 models; missing: PSR\ntrain_npu.py"]
    assert any(sentence.startswith(
        f"Agreed deliverables still missing: {code} {lacks}, {scripts} {lacks}, {weights}")
        for sentence in found["open_points"])
    stored(delivered, models["PSR"], "train_npu.py", b"pass", job=jobs["PSR"])
    for code, model in models.items():
        stored(delivered, model, "model.om", b"om", job=jobs[code])
    stored(delivered, None, "使用说明.md", b"# guide")
    found = facts()
    rows = found["tables"]["deliverables"]["rows"]
    assert found["missing_deliverables"] == []
    assert [row[6] for row in rows] == ["there"] * 5
    assert "same content" in rows[2][5]


@pytest.mark.slow
def test_a_model_owes_only_what_its_route_makes_and_a_file_of_no_model_is_nobody_s(
        delivered, facts, people):
    enter(delivered, people, deliverables=["code"])
    psr = delivered.models.get(code="PSR")
    psr.stages.filter(stage__in=("train_adapt", "train_tune")).update(state="skipped")
    llm = delivered.models.get(code="LLM")
    jobs = [delivered.jobs.create(
        kind="adapt.transplant", model=model, stage="train_adapt", state="succeeded",
        started_at=STARTED, finished_at=STARTED) for model in (None, llm)]
    stored(delivered, None, "all.diff", b"-", job=jobs[0])
    row = next(iter(facts()["tables"]["deliverables"]["rows"]))
    assert row[4:] == ["1", "0 of 1 model; missing: LLM\nall.diff", "missing"]
    stored(delivered, llm, "llm.diff", b"-", job=jobs[1])
    assert next(iter(facts()["tables"]["deliverables"]["rows"]))[4:] == [
        "2", "1 of 1 model\nall.diff, llm.diff", "there"]


@pytest.mark.slow
def test_the_environment_that_was_planned_is_held_against_the_nodes(delivered, facts, people):
    row = "Environment: planned against measured"
    extent = {r[0]: r[1:] for r in facts()["tables"]["examined"]["rows"]}
    assert extent[row] == [
        "0 of 9 items planned: 0 agree, 0 not measured on every node", "not fully examined"]
    survey = start_survey(actor=people[Role.CONSULTANT], engagement=delivered)
    for key, value in (("chip", "910b"), ("arch", "aarch64"),
                       ("cann", "驱动 24.1.rc2，CANN: 8.0.RC3，固件待定，MindIE 1.0")):
        question = survey.questionnaire.questions.get(key=key)
        survey.answers.create(question=question, value=value, changed_at=STARTED,
                              changed_by=people[Role.CONSULTANT])
    table = {r[0]: r[1:] for r in facts()["tables"]["planned"]["rows"]}
    node = delivered.jobs.exclude(node=None).exclude(stage="design").last().node
    assert node.software["cann"] == "8.0.RC2"
    assert table["CANN"] == ["8.0.RC3 (survey)", "8.0.RC2", "differs"]
    assert table["Driver"] == ["24.1.rc2 (survey)", "24.1.rc2", "agrees"]
    assert table["Firmware"][0] == table["Firmware"][2] == "not planned"
    assert table["mindie"] == ["1.0 (survey)", f"{node.name}: not measured", "not measured"]
    assert {"model": "–", "name": "CANN",
            "message": f"planned 8.0.RC3, measured 8.0.RC2 on {node.name}"} in facts()["deviations"]
    assert facts()["is_examined"] is False
    set_planned_versions(actor=people[Role.CONSULTANT], engagement=delivered,
                         versions={"cann": "8.0.RC2", "firmware": "7.3.0.1.231"})
    table = {r[0]: r[1:] for r in facts()["tables"]["planned"]["rows"]}
    assert table["CANN"] == ["8.0.RC2", "8.0.RC2", "agrees"]
    assert table["Firmware"] == ["7.3.0.1.231", "7.3.0.1.231", "agrees"]
