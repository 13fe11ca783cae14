"""Test cases of a report: from criteria and required runs, with conditions of each figure."""

import io
import json
from collections import Counter
from decimal import Decimal

import pypdf
import pytest

from assessments import services as assessing
from assessments.models import Baseline, MetricDefinition
from bundle_verifier.bundle_format import raw_name
from delivery.documents.bilingual import in_language
from delivery.documents.pdf import html_of
from delivery.reports import services
from delivery.reports.decision_summary import (
    MOST_MODELS,
    MOST_POINTS,
    decision_summary,
    picture,
)
from delivery.reports.facts.agreement_sheets import origins
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from delivery.reports.rendering import TEMPLATE, context_of, render_document
from engagements.models import Role
from tests.delivery.conftest import STARTED, sign_for_both, stored
from workers.models import Artifact, Job, JobState, Node

STATED = "not stated"
SUMMARY = {"NPU_compute_time": {"min": 11.0, "max": 14.5, "mean": 12.0, "median": 11.9,
                                "percentile(99%)": 14.1},
           "H2D_latency": {"mean": 0.1}, "D2H_latency": {"mean": 0.1}, "throughput": 83.3,
           "filesinfo": {}}


@pytest.fixture
def tables(delivered, people):
    """The tables of a draft as things stand: `tables("en")["cases"]["rows"]`."""
    def drawn(language: str = "en") -> dict:
        return shown(services.draft_test_report(
            actor=people[Role.MANAGER], engagement=delivered), language)

    return drawn


def shown(draft: Document, language: str = "en") -> dict:
    return in_language(draft.snapshot, language)["tables"]


def test_a_case_names_data_command_expectation_and_result(delivered, report):
    first = {row[0]: row[1:] for row in shown(report)["cases"]["rows"]}["TC-01"]
    about, precondition, steps, expected, actual, verdict = first
    base, measured = (delivered.artifacts.get(name=name) for name in (
        "gpu/train_baseline.csv", "train_npu.csv"))
    assert "LLM Inspection report model\nTraining · Accuracy" in about
    assert f"E{base.pk} {raw_name(base.name, base.sha256)}" in precondition
    assert "bms-01 · cards 0–7" in precondition
    assert "torchrun --nproc_per_node=8 pretrain_gpt.py --seed 1234" in steps
    assert (expected, verdict) == ("< 2 %", "Passed")
    assert actual.startswith("0.400 %\n100 of 100 steps in common\n1 run judged\n")
    assert raw_name(measured.name, measured.sha256) in actual


def test_what_was_not_measured_is_a_case_without_a_result(report):
    unmeasured = {row[0]: row[1:] for row in shown(report)["cases"]["rows"]}["TC-03"]
    assert unmeasured[2] == "No run has been judged."
    assert unmeasured[4:] == ["not measured", "Not measured"]


def test_a_functional_case_counts_the_models_whose_run_succeeded(delivered, tables):
    for code, state in (("LLM", "succeeded"), ("PSR", "failed")):
        Job.objects.create(kind="adapt.ckpt_check", engagement=delivered, state=state,
                           model=delivered.models.get(code=code), stage="train_adapt",
                           command=["python3", "check.py", code], started_at=STARTED,
                           finished_at=STARTED)
    [found] = [row for row in tables()["functional"]["rows"] if "check.py" in row[3]]
    assert found[1] == "LLM, PSR\nTraining adaptation"
    assert [f"check.py {code}" in found[3] for code in ("LLM", "PSR")] == [True, True]
    assert found[5].startswith("1 of 2 models as expected\nPSR: #")
    assert found[6] == "not as expected"


def benchmarked(engagement, people, content: bytes, name: str, command: list[str]):
    """A latency of PSR that is agreed and judged."""
    model, manager = engagement.models.get(code="PSR"), people[Role.MANAGER]
    draft = assessing.draft_criteria(actor=manager, engagement=engagement)
    assessing.add_criterion(
        actor=manager, criteria_set=draft, model=model, stage="infer_tune",
        threshold=Decimal(200), definition=MetricDefinition.objects.get(code="latency"))
    sign_for_both(people, draft)
    job = Job.objects.create(
        kind="inf.om_bench", engagement=engagement, model=model, stage="infer_tune",
        node=Node.objects.get(name="bms-01"), state=JobState.SUCCEEDED, command=command,
        started_at=STARTED, finished_at=STARTED)
    measured = assessing.measure_artifact(stored(engagement, model, name, content, job=job))
    assessing.judge_affected(measured)


@pytest.mark.slow
def test_the_conditions_of_a_latency_are_those_of_tool_and_run(delivered, people, tables):
    benchmarked(delivered, people, json.dumps(SUMMARY).encode(), "bench/a_summary.json",
                ["sh", "-c", 'exec python3 -m ais_bench --output bench "$@"', "bench", "--model",
                 "m.om", "--batchsize", "4", "--loop", "50", "--warmup_count", "5"])
    [row] = tables()["measuring"]["rows"]
    batch, lengths, concurrency, warm_up, rounds, mean, median, p99, largest = row[2:]
    assert (batch, warm_up, rounds) == ("4 (as set)", "5 (as set)", "50 (as set)")
    assert (lengths, concurrency) == (STATED, STATED)
    assert (mean, median, p99, largest) == ("12 ms", "11.9 ms", "14.1 ms", "14.5 ms")


@pytest.mark.slow
def test_what_no_tool_stated_is_not_guessed(delivered, people, tables):
    summary = {**SUMMARY, "NPU_compute_time": {"mean": 12.0}}
    benchmarked(delivered, people, json.dumps(summary).encode(), "bench/b_summary.json",
                ["python3", "bench.py"])
    [row] = tables()["measuring"]["rows"]
    assert row[2:7] == [STATED] * 5
    assert row[7:] == ["12 ms", STATED, STATED, STATED]


def test_throughput_and_memory_that_nobody_measured_are_named(report):
    rows = shown(report)["before_after"]["rows"]
    assert [row[:2] for row in rows] == [
        ["LLM, PSR", "Training throughput (tokens)"], ["LLM, PSR", "Peak memory"],
        ["LLM, PSR", "Inference throughput"]]
    assert {row[4] for row in rows} == {"no run measured it"}


@pytest.mark.slow
def test_the_summary_for_the_decision_is_one_page_however_much_there_is(report):
    snapshot = report.snapshot
    snapshot["metrics"] *= 10
    snapshot["open_points"] = [{"zh-hans": "遗留问题" * 12, "en": "An open point " * 9}] * 60
    for language, title in (("en", "Summary for the decision"), ("zh-hans", "决策摘要")):
        pages = [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(
            render_document(snapshot, language))).pages]
        [begins] = [n for n, text in enumerate(pages) if title in text and "...." not in text
                    and n > 1 and title in text[:400]]
        assert ("Identification" if language == "en" else "标识") in pages[begins + 1]


def test_the_summary_puts_what_failed_first_and_counts_the_rest(report):
    facts = in_language(report.snapshot, "en")
    rows, models = facts["metrics"], facts["models"]
    facts["metrics"] = [{**row, "model": f"{row['model']}{n}"} for n in range(9) for row in rows]
    facts["metrics"][-1] = {**facts["metrics"][-1], "outcome": "failed", "outcome_label": "Failed"}
    facts["models"] = [{**model, "code": f"{model['code']}{n}"} for n in range(9)
                       for model in models]
    facts["open_points"] = ["x"] * (MOST_POINTS + 2)
    found = decision_summary(facts)
    picture = found["picture"]
    assert picture["rows"][0]["model"] == facts["metrics"][-1]["model"]
    assert picture["rows"][0]["cells"][0][0]["outcome"] == "failed"
    assert (len(picture["rows"]), picture["more"]) == (MOST_MODELS, 18 - MOST_MODELS)
    assert found["more_points"] == 2


def test_the_picture_says_every_pair_of_model_and_criterion(report):
    facts = in_language(report.snapshot, "en")
    found = picture(facts)
    shown = {(row["model"], column["name"], entry["label"], entry["n"])
             for row in found["rows"]
             for column, cell in zip(found["columns"], row["cells"], strict=True)
             for entry in cell}
    counted = Counter((row["model"], row["name"], row["outcome_label"])
                      for row in facts["metrics"])
    assert shown == {(*key, n) for key, n in counted.items()}
    assert picture({**facts, "metrics": []}) == {}


@pytest.mark.slow
def test_raw_files_and_runs_lead_to_their_pages_and_error_codes_do_not(
        delivered, people, settings):
    settings.PUBLIC_URL = "https://desk.example"
    snapshot = services.draft_test_report(
        actor=people[Role.MANAGER], engagement=delivered).snapshot
    [judged] = [row for row in snapshot["evidence"] if row["name"] == "train_npu.csv"]
    snapshot["tables"]["cases"]["rows"][0][5] = {"zh-hans": "E40021 #99999", "en": "E40021 #99999"}
    html = html_of(TEMPLATE, context_of(snapshot, "en"), "en")
    assert f'<a href="https://desk.example/artifacts/{judged["id"]}/">E{judged["id"]}</a>' in html
    assert f'<a href="https://desk.example/jobs/{judged["job"]}/">#{judged["job"]}</a>' in html
    assert raw_name(judged["name"], judged["sha256"]) in html
    assert "E40021 #99999" in html


def accuracy_run(engagement, kind: str, state: str = "succeeded", **values) -> Job:
    return Job.objects.create(
        kind=kind, engagement=engagement, stage="train_tune", state=state, started_at=STARTED,
        finished_at=STARTED, model=engagement.models.get(code=values.pop("code", "LLM")), **values)


def test_accuracy_runs_are_cases_of_which_the_newest_of_each_model_counts(delivered, tables):
    bms = Node.objects.get(name="bms-01")
    first, second = (accuracy_run(delivered, "acc.config_check", node=bms, command=["msprobe", n])
                     for n in ("one", "two"))
    failed = accuracy_run(delivered, "acc.compare", "failed", code="PSR")
    accuracy_run(delivered, "acc.compare", code="LLM", message="All rows alike.")
    rows = {row[0]: row[1:] for row in tables()["functional"]["rows"]}
    about, where, steps, expected, _actual, state = rows["TA-01"]
    assert (about, where) == ("LLM\nTraining tuning", "Node: bms-01")
    assert steps == (f"#{second.pk} Configuration check before training: msprobe two\n"
                     "Runs in all: 2; the newest of each model counts.")
    assert expected == "The comparison was written; differences are shown, not judged."
    assert state == "as expected"
    about, _where, steps, _expected, actual, state = rows["TA-02"]
    assert about == "PSR, LLM\nTraining tuning"
    assert (actual, state) == ("PSR: Failed\nLLM: All rows alike.", "not as expected")
    assert f"#{failed.pk}" in steps
    assert f"#{first.pk}" not in steps


def test_a_comparison_that_a_criterion_makes_is_named_in_the_criterions_case(delivered, tables):
    base, measured = (delivered.artifacts.get(name=name) for name in (
        "gpu/train_baseline.csv", "train_npu.csv"))
    given = {"baseline": base.pk, "candidate": measured.pk,
             "definition": "loss_mean_relative_error"}
    same = accuracy_run(delivered, "acc.loss_compare", parameters=given)
    other = accuracy_run(delivered, "acc.loss_compare", parameters={**given, "candidate": base.pk})
    drawn = tables()
    criteria, runs = ({row[0]: row[1:] for row in drawn[name]["rows"]}
                      for name in ("cases", "functional"))
    assert criteria["TC-01"][2].endswith(f"4. The same comparison as a run: #{same.pk}.")
    assert runs["TA-01"][1:3] == ["Run on this server, not on a node",
                                  f"#{other.pk} Loss-curve comparison"]
    assert not [row for row in runs.values() if f"#{same.pk}" in row[2]]


def test_a_run_that_was_judged_or_stopped_by_hand_is_no_case_of_its_own(delivered, tables):
    judged = delivered.artifacts.get(name="train_npu.csv").job
    Job.objects.filter(pk=judged.pk).update(kind="acc.eval")
    accuracy_run(delivered, "acc.dump", "cancelled")
    assert not [row for row in tables()["functional"]["rows"] if row[0].startswith("TA-")]


def test_a_baseline_says_who_measured_it_and_on_whose_machine(delivered, people):
    def told() -> dict[str, list[str]]:
        made = origins(Source(Document(engagement=delivered, kind="TR")))
        return {row[0]: row[3:5] for row in in_language(made, "en")["rows"]}

    assert set(map(tuple, told().values())) == {("not recorded", "not recorded")}
    [baseline, *_more] = Baseline.objects.filter(model__engagement=delivered).order_by("pk")
    run = Job.objects.create(
        kind="adapt.megatron_train", engagement=delivered, model=baseline.model,
        stage="train_tune", state="succeeded", node=Node.objects.get(name="bms-01"),
        created_by=people[Role.CONSULTANT], started_at=STARTED, finished_at=STARTED)
    Artifact.objects.filter(pk=baseline.artifact_id).update(job=run)
    assert told()[f"B{baseline.pk}"] == [str(people[Role.CONSULTANT]), "bms-01 (Supplier)"]
