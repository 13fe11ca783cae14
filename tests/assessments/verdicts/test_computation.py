"""What the arithmetic is fed: runs, obstacles, doubts, environments."""

from datetime import timedelta
from decimal import Decimal
from hashlib import sha256
from types import SimpleNamespace

import numpy as np
import pytest
from django.utils import timezone

from assessments import services
from assessments.models import AcceptedDifference, Baseline, CriteriaSet, MetricDefinition
from assessments.verdicts import computation, environments, runs
from assessments.verdicts.environments import compared, of_baseline, of_run, unreviewed
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Role
from tests.assessments.conftest import megatron_log, signed
from tests.cached_fixtures import cached_fixture
from toolreaders.base import ReadError
from workers.models import Card, Job, Node
from workers.models.job import JobState

GPU = np.linspace(4, 2, 200)


@pytest.fixture
def measured(people, store, model):
    """Stores a curve as a file of the model; returns its measurement of the loss."""
    def put(factor, name=""):
        artifact = store(name or f"{factor}.log", megatron_log(GPU * factor), model)
        found = services.measure_artifact(artifact)
        return next(m for m in found if m.quantity == "loss_curve")
    return put


def redefine(criterion, **fields):
    MetricDefinition.objects.filter(pk=criterion.definition_id).update(**fields)
    criterion.definition.refresh_from_db()


def test_what_is_missing_is_said_before_anything_is_read(criterion, measured):
    found = computation.compute(criterion, None)
    assert (found.outcome, found.reason, found.figure) == ("not_measured", "no_measurement", None)
    criterion.baseline = None
    found = computation.compute(criterion, measured(1.001))
    assert (found.outcome, found.reason, found.figure) == ("not_provable", "no_baseline", None)


def test_a_verdict_without_a_baseline_names_the_other_runs_too(criterion, measured):
    criterion.baseline = None
    earlier, _newest = measured(1.03), measured(1.001)
    verdict = services.judge_criterion(criterion)
    assert (verdict.outcome, verdict.reason) == ("not_provable", "no_baseline")
    assert {"artifact": earlier.artifact_id, "job": None, "figure": None} in (
        verdict.facts["left_out"])


def test_a_value_needs_no_baseline(criterion, measured, definitions):
    criterion.baseline, criterion.definition = None, definitions["step_time"]
    criterion.threshold = Decimal(500)
    found = computation.compute(criterion, measured(1.001))
    assert (found.outcome, found.figure) == ("passed", 500.0)
    assert found.facts["baseline"] is None


def test_gradients_that_are_not_finite_pass_in_no_verdict(criterion, store, model):
    text = megatron_log(GPU).replace(b"grad norm: 1.000", b"grad norm: nan")
    measured = next(m for m in services.measure_artifact(store("nan.log", text, model))
                    if m.quantity == "loss_curve")
    found = computation.compute(criterion, measured)
    assert (found.outcome, found.reason) == ("not_provable", "nonfinite_grad_norm")
    assert (found.facts["bad_norms"], found.facts["first_bad_norm"]) == (200, 1)
    assert "nonfinite_grad_norm" in {warning["code"] for warning in found.facts["warnings"]}


def test_a_verdict_says_which_runs_it_rests_on(criterion, measured):
    redefine(criterion, selection="worst", runs=2)
    one, two = measured(1.01), measured(1.001)
    found = computation.compute(criterion, two)
    assert [(run["artifact"], run["job"], run["outcome"]) for run in found.facts["runs"]] == [
        (two.artifact_id, None, "passed"), (one.artifact_id, None, "passed")]
    assert found.facts["runs"][1]["figure"] == found.figure == pytest.approx(0.01, rel=1e-4)


@pytest.mark.parametrize(("wanted", "last", "judged"), [
    (1, 2, [2]), (2, 2, [2, 1]), (3, 2, [2, 1, 0]), (4, 2, [2, 1, 0]), (2, 1, [1, 0]),
    (2, 0, [0])])
def test_runs_are_taken_back_from_the_newest(criterion, measured, wanted, last, judged):
    redefine(criterion, selection="worst", runs=wanted)
    made = [measured(1 + n / 1000) for n in (1, 2, 3)]
    found = computation.judged_runs(criterion, made[last])
    assert [made.index(run) for run in found] == judged


def test_the_last_run_is_one_whatever_the_count(criterion, measured):
    redefine(criterion, selection="last", runs=3)
    measured(1.001)
    newest = measured(1.002)
    assert computation.judged_runs(criterion, newest) == [newest]


@pytest.mark.parametrize(("units", "reason"), [
    (("ms", "ms"), "threshold_met"), (("ms", ""), "threshold_met"), (("", "ms"), "threshold_met"),
    (("ms", "s"), "units_differ")])
def test_units_of_both_sides(criterion, measured, units, reason):
    run = measured(1.001)
    criterion.baseline.unit, run.unit = units
    assert computation.compute(criterion, run).reason == reason


def test_one_run_in_another_unit_is_enough(criterion, measured):
    redefine(criterion, selection="worst", runs=2)
    old, new = measured(1.001), measured(1.002)
    criterion.baseline.unit = "ms"
    type(old).objects.filter(pk=old.pk).update(unit="s")
    new.unit = "ms"
    assert computation.compute(criterion, new).reason == "units_differ"


def test_the_baselines_content_under_another_name_proves_nothing(criterion, measured):
    assert computation.compute(criterion, measured(1, "copy.log")).reason == "same_file"


def test_other_contents_are_other_runs_whichever_checksum_is_lower(criterion, measured):
    own = criterion.baseline.artifact.sha256
    by_side = {sha256(megatron_log(GPU * factor)).hexdigest() < own: factor
               for factor in np.linspace(1.001, 1.01, 300)}
    assert set(by_side) == {True, False}
    for factor in by_side.values():
        assert computation.compute(criterion, measured(factor)).reason == "threshold_met"


@pytest.mark.parametrize("side", ["baseline", "run"])
def test_a_changed_file_of_either_side(criterion, measured, side):
    run = measured(1.001)
    file = (criterion.baseline if side == "baseline" else run).artifact.file
    with open(file.path, "ab") as stream:
        stream.write(b" ")
    found = computation.compute(criterion, run)
    assert (found.outcome, found.reason) == ("not_provable", "file_changed")


def test_what_a_reader_refuses_is_told(criterion, measured, monkeypatch):
    def refuse(_curves, _candidate):
        raise ReadError("contradictory_values", "two values")
    monkeypatch.setattr(computation.Curves, "aligned", refuse)
    assert computation.compute(criterion, measured(1.001)).reason == "contradictory_values"


def test_doubts_come_in_order(criterion, measured):
    run = measured(1.001)
    Baseline.objects.filter(pk=criterion.baseline_id).update(environment={"seed": "1"})
    node = Node.objects.create(name="n", host="h", username="u", software={"seed": "2"},
                               cards_total=8)
    run.job = Job.objects.create(kind="adapt.megatron_train", model=run.model, node=node,
                                 engagement=run.model.engagement)
    run.save()
    criterion.baseline.refresh_from_db()
    assert computation.compute(criterion, run).reason == "environment_unreviewed"
    criterion.baseline.frozen_at = None
    assert computation.compute(criterion, run).reason == "baseline_unsigned"
    criterion.criteria_set.state = "draft"  # as the database gives it back
    assert computation.compute(criterion, run).reason == "criteria_unsigned"
    criterion.criteria_set.state = CriteriaSet.State.SUPERSEDED
    criterion.baseline.environment = {"seed": "2"}
    criterion.baseline.frozen_at = run.created_at
    assert computation.compute(criterion, run).reason == "threshold_met"


def test_a_score_is_judged_against_its_baseline(criterion, measured, definitions):
    criterion.definition = definitions["throughput_ratio"]
    criterion.baseline.quantity = "samples_per_second"
    criterion.threshold = Decimal(1)
    run = measured(1.001)
    found = computation.compute(criterion, run)
    assert (found.outcome, found.figure, found.facts["baseline"]) == ("passed", 1.0, 20.0)
    criterion.baseline.quantity = "grad_norm_mean"
    assert computation.compute(criterion, run).facts["baseline"] == 1.0


def test_scaling_takes_the_cards_of_the_job(criterion, measured, definitions, people):
    criterion.definition = definitions["scaling_efficiency"]
    criterion.baseline.quantity, criterion.threshold = "samples_per_second", Decimal("0.1")
    run = measured(1.001)
    assert computation.compute(criterion, run).reason == "cards_unknown"
    run.job = Job.objects.create(kind="adapt.megatron_train", cards_wanted=8, model=run.model,
                                 engagement=run.model.engagement)
    assert computation.compute(criterion, run).figure == 0.125


@pytest.mark.parametrize(("wanted", "parameters", "cards"), [
    (8, {}, 8), (8, {"nodes": 2}, 16), (8, {"nodes": "3"}, 24), (8, {"nodes": 0}, 8),
    (0, {"nodes": 4}, None), (8, {"cards_used": 5, "nodes": 2}, 5), (1, {}, 1),
    (8, {"cards_used": 0}, 8)])
def test_cards_of_a_job(wanted, parameters, cards):
    assert computation.cards_of(Job(cards_wanted=wanted, parameters=parameters)) == cards


# Environments

def states(rows) -> dict[str, tuple]:
    return {row.name: (row.baseline, row.candidate, row.state) for row in rows}


@pytest.fixture
@cached_fixture
def on_node(criterion, people, store, model):
    """A measured run of a job on four cards of a node; the baseline knows its own facts."""
    node = Node.objects.create(name="n", host="h", username="u", software={
        "CANN": "8.0", "Driver": {"version": "24.1", "build": 7}, "gcc": None, "os": "",
        "libs": ["numpy", "scipy"], "arch": {}, "list": []}, cards_total=8)
    for n, chip in enumerate(("910B3", "910B1", "910B1", "")):
        Card.objects.create(node=node, index=n, chip_name=chip, read_at=timezone.now())
    artifact = store("npu.log", megatron_log(GPU * 1.001), model)
    artifact.job = Job.objects.create(kind="adapt.megatron_train", cards_wanted=4, model=model,
                                      engagement=model.engagement, node=node)
    artifact.save()
    services.measure_artifact(artifact)
    Baseline.objects.filter(pk=criterion.baseline_id).update(environment={
        " CANN ": "8.0", "chip": "A100", "cards": 4, "LIBS": "NumPy, SciPy", "seed": "1",
        "empty": ""})
    return criterion


@pytest.fixture
def run(on_node):
    return services.newest_measurement(on_node)


@pytest.fixture
def known(on_node):
    on_node.baseline.refresh_from_db()
    return on_node


def test_facts_of_a_run(run):
    assert of_run(run) == {"chip": "910B1, 910B3", "cards": "4", "cann": "8.0",
                           "driver": "build 7, version 24.1", "libs": "numpy, scipy"}
    run.job.cards_wanted = 0
    assert "cards" not in of_run(run)
    run.job.node = None
    assert of_run(run) == {}
    run.job = None
    assert of_run(run) == of_run(None) == of_baseline(None) == {}


def test_facts_of_a_baseline_are_short_text(known):
    assert of_baseline(known.baseline) == {
        "cann": "8.0", "chip": "A100", "cards": "4", "libs": "NumPy, SciPy", "seed": "1"}
    known.baseline.environment = {"N" * 81: "x" * 241, "zero": 0}
    assert of_baseline(known.baseline) == {"n" * 80: "x" * 240, "zero": "0"}
    known.baseline.environment = None
    assert of_baseline(known.baseline) == {}


def test_both_sides_of_every_fact(known, run):
    assert states(compared(known, run)) == {
        "cann": ("8.0", "8.0", "same"), "cards": ("4", "4", "same"),
        "chip": ("A100", "910B1, 910B3", "differs"),
        "driver": ("", "build 7, version 24.1", "one_sided"),
        "libs": ("NumPy, SciPy", "numpy, scipy", "same"), "seed": ("1", "", "one_sided")}
    assert [row.name for row in compared(known, run)] == [
        "cann", "cards", "chip", "driver", "libs", "seed"]
    assert [row.name for row in unreviewed(known, run)] == ["chip"]


def test_an_accepted_difference_is_that_of_these_two_values(known, run, people):
    row = AcceptedDifference.objects.create(
        engagement=known.criteria_set.engagement, item="chip", baseline_value="A100",
        candidate_value="910B1, 910B3", reason="migration", accepted_by=people[Role.MANAGER])
    chip = next(item for item in compared(known, run) if item.name == "chip")
    assert (chip.state, chip.accepted) == ("accepted", row)
    assert list(unreviewed(known, run)) == []
    for field, value in (("item", "chips"), ("baseline_value", "H100"),
                         ("candidate_value", "910B3")):
        AcceptedDifference.objects.filter(pk=row.pk).update(**{field: value})
        chip = next(item for item in compared(known, run) if item.name == "chip")
        assert (chip.state, chip.accepted) == ("differs", None)
        AcceptedDifference.objects.filter(pk=row.pk).update(**{field: getattr(row, field)})


def test_without_baseline_or_run_nothing_waits_for_a_review(known, run):
    assert list(unreviewed(known, None)) == []
    known.baseline = None
    assert list(unreviewed(known, run)) == []


def test_items_are_values(known, run):
    item = compared(known, run)[0]
    assert item.accepted is None
    with pytest.raises(AttributeError):
        item.state = environments.SAME


# All runs

def test_runs_with_what_was_judged_and_what_failed(criterion, measured, engagement):
    node = Node.objects.create(name="n", host="h", username="u", cards_total=8)

    def job(state, kind="adapt.megatron_train"):
        now = timezone.now()
        return Job.objects.create(
            kind=kind, model=criterion.model, node=node, state=state, engagement=engagement,
            started_at=now, finished_at=None if state == JobState.RUNNING else now)
    first, second = measured(1.001), measured(1.01)
    second.job = job(JobState.SUCCEEDED)
    second.save()
    bad = [job(state) for state in (JobState.FAILED, JobState.CANCELLED, JobState.TIMED_OUT,
                                    JobState.LOST)]
    job(JobState.RUNNING)
    job(JobState.FAILED, kind="env.npu_info")
    verdict = services.judge_criterion(criterion)
    found = runs.all_runs(criterion, verdict)
    assert [run.job for run in found if run.artifact is None] == bad[::-1]
    assert [(run.artifact, run.job, run.standing, run.text) for run in found
            if run.artifact] == [(second.artifact, second.job, "judged", "1.000 %"),
                                 (first.artifact, None, "later_counts", "0.1000 %")]
    assert {(run.standing, run.text) for run in found if run.artifact is None} == {
        ("unsuccessful", "--")}
    assert {run.standing for run in runs.all_runs(criterion, None)} == {
        "not_judged", "unsuccessful"}
    times = [run.began for run in found]
    assert times == sorted(times, reverse=True)


def test_a_judged_run_without_a_figure(criterion, measured):
    run = measured(1.001)
    verdict = SimpleNamespace(facts={"runs": [{"artifact": run.artifact_id, "figure": None}]})
    [found] = runs.all_runs(criterion, verdict)
    assert (found.is_judged, found.text) == (True, "--")
    assert runs.all_runs(criterion, SimpleNamespace(facts={}))[0].is_judged is False


def on(run, node, state=JobState.SUCCEEDED, **fields):
    """The measurement, brought by a job of its own."""
    now = timezone.now()
    run.artifact.job = run.job = Job.objects.create(
        kind=fields.pop("kind", "adapt.megatron_train"), model=run.model, node=node, state=state,
        engagement=run.model.engagement, started_at=now, finished_at=now,
        results={"device": "npu 0"}, **fields)
    run.artifact.save()
    run.save()
    return run


def test_a_failed_verdict_stays_beside_the_run_that_passed_with_another_rate(criterion, measured):
    node = Node.objects.create(name="n", host="h", username="u")
    bad = on(measured(1.03), node, command=["train", "--lr", "1e-4", "--seed", "1"])
    assert services.judge_criterion(criterion).outcome == "failed"
    good = on(measured(1.001), node, command=["train", "--lr", "1e-5", "--seed", "1"])
    verdict = services.judge_criterion(criterion)
    last, first = runs.all_runs(criterion, verdict)
    assert (last.artifact, last.standing, last.text) == (good.artifact, "judged", "0.1000 %")
    assert (first.artifact, first.standing, first.text) == (
        bad.artifact, "later_counts", "3.000 %")
    assert first.differences == [("lr", "1e-5", "1e-4")]
    assert [entry.outcome for entry in first.earlier] == ["failed"]
    assert [(row["artifact"], row["figure"]) for row in verdict.facts["left_out"]] == [
        (bad.artifact_id, pytest.approx(0.03, rel=1e-4))]


def test_a_run_that_was_stored_again_is_no_later_run(criterion, measured, store, model):
    good, _bad = measured(1.001), measured(1.03)
    again = store("again.log", megatron_log(GPU * 1.001), model)
    services.measure_artifact(again)
    verdict = services.judge_criterion(criterion)
    assert (verdict.outcome, verdict.figure) == ("failed", pytest.approx(0.03, rel=1e-4))
    assert [run.artifact for run in runs.all_runs(criterion, verdict)] == [
        verdict.measurement.artifact, good.artifact]


def test_a_cancelled_run_keeps_what_it_measured(criterion, measured):
    node = Node.objects.create(name="n", host="h", username="u")
    stopped = on(measured(1.5), node, JobState.CANCELLED)
    stopped.delete()  # the files of an unsuccessful job are read, never measured
    measured(1.001)
    verdict = services.judge_criterion(criterion)
    found = {run.standing: run for run in runs.all_runs(criterion, verdict)}
    assert found["unsuccessful"].artifact == stopped.artifact
    assert (found["unsuccessful"].text, found["judged"].text) == ("50.000 %", "0.1000 %")


def test_trials_and_regression_runs_are_listed_and_never_count(criterion, measured):
    node = Node.objects.create(name="n", host="h", username="u")
    measured(1.001)
    on(measured(1.1), node, is_regression=True)
    on(measured(1.2), node, kind="adapt.smoke_train")
    verdict = services.judge_criterion(criterion)
    assert [(run.standing, run.text) for run in runs.all_runs(criterion, verdict)][:2] == [
        ("trial", "20.000 %"), ("regression", "10.000 %")]
    assert verdict.figure == pytest.approx(0.001, rel=1e-4)


def test_a_criterion_says_how_many_runs_it_wants(people, criterion, draft_of, measured):
    made = [measured(factor) for factor in (1.03, 1.001, 1.002)]
    row = draft_of(criterion, selection="median", runs=3)
    assert services.criteria_facts(row.criteria_set)[0]["selection"] == "median"
    verdict = services.judge_criterion(row)
    assert (verdict.reason, verdict.figure) == (
        "criteria_unsigned", pytest.approx(0.002, rel=1e-4))
    assert [run["artifact"] for run in verdict.facts["runs"]] == [
        run.artifact_id for run in made[::-1]]


@pytest.fixture
def draft_of(people):
    """The criterion in a new draft under another rule of runs."""
    def put(criterion, **rule):
        draft = services.draft_criteria(actor=people[Role.MANAGER],
                                        engagement=criterion.criteria_set.engagement)
        draft.criteria.all().delete()
        return services.add_criterion(
            actor=people[Role.MANAGER], criteria_set=draft, model=criterion.model,
            definition=criterion.definition, stage=criterion.stage,
            threshold=criterion.threshold, baseline=criterion.baseline, **rule)
    return put


@pytest.mark.parametrize("rule", [
    {"selection": "median"}, {"runs": 3}, {"selection": "best", "runs": 1},
    {"selection": "mean", "runs": 21}])
def test_a_rule_of_runs_is_whole(criterion, draft_of, rule):
    with pytest.raises(InvalidInput):
        draft_of(criterion, **rule)


# The order in time

def test_a_run_from_before_the_signature_proves_nothing(people, criterion, draft_of, measured):
    run = measured(1.015)
    row = draft_of(criterion, selection="last")  # another text than before: agreed only now
    signed(people, row.criteria_set)
    row = type(row).objects.get(pk=row.pk)
    verdict = row.verdicts.first()
    assert (verdict.outcome, verdict.reason) == ("not_provable", "agreed_after_run")
    [item] = [item for item in compared(row, run) if item.name == environments.ORDER]
    for nobody in (Role.CONSULTANT, Role.MANAGER):
        with pytest.raises(NotAllowed):
            services.accept_and_judge(actor=people[nobody], criterion=row, items=[item.name],
                                      reason="measured before")
    found = services.accept_and_judge(actor=people[Role.REVIEWER], criterion=row,
                                      items=[item.name], reason="measured before")
    assert (found.outcome, found.reason) == ("passed", "threshold_met")
    measured(1.016)  # a run from after it needs nobody
    assert services.judge_criterion(row).outcome == "passed"


def test_a_run_in_the_second_of_the_signature_is_still_from_before_it(
        people, criterion, draft_of, measured):
    run = measured(1.001)
    row = draft_of(criterion, selection="last")
    signed(people, row.criteria_set)
    row = type(row).objects.get(pk=row.pk)
    just_before = row.criteria_set.signed_at - timedelta(microseconds=1)
    type(run.artifact).objects.filter(pk=run.artifact_id).update(created_at=just_before)
    assert services.judge_criterion(row).reason == "agreed_after_run"


def test_a_version_that_keeps_the_text_is_no_later_agreement(people, criterion, measured):
    measured(1.001)
    draft = services.draft_criteria(actor=people[Role.MANAGER],
                                    engagement=criterion.criteria_set.engagement)
    signed(people, draft)
    assert draft.criteria.get().verdicts.first().outcome == "passed"
    assert environments.frozen_since(draft.criteria.get()) == (
        criterion.criteria_set.signed_at)


def test_what_fails_under_a_later_threshold_stays_failed(people, criterion, draft_of, measured):
    measured(1.03)
    row = draft_of(criterion, selection="last")
    signed(people, row.criteria_set)
    assert row.verdicts.first().outcome == "failed"


def test_a_run_is_as_old_as_its_content(criterion, measured, store, model, engagement):
    run = measured(1.001)
    again = store("later.log", megatron_log(GPU * 1.001), model)
    assert environments.began_at(again) == run.artifact.created_at
    job = Job.objects.create(kind="perf.analysis", engagement=engagement, model=model)
    job.inputs.create(artifact=run.artifact, name="log")
    made = store("figures.json", b"{}", model)
    made.job = job
    made.save()
    assert environments.began_at(made) == run.artifact.created_at
