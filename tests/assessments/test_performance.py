"""Performance: gains from measurements, rounds that compare like with like."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from django.utils.translation import override

from assessments import services
from assessments.charts.performance import scaling_spec
from assessments.models import OptimisationRound, Verdict
from assessments.performance.gains import BY_NAME, gain
from assessments.performance.metric_bars import bars_of
from assessments.performance.overview import overview
from assessments.performance.rounds import history
from assessments.performance.scaling import Point, Scaling, scaling_of
from assessments.presentation import verdict_rows
from delivery.reports.facts import before_after
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role
from engagements.stages import Stage
from tests.assessments.conftest import log, megatron_log, trace
from toolreaders.training.series import time_values

SAMPLES = Path(__file__).parents[1] / "samples" / "performance"


@pytest.mark.parametrize(("name", "before", "after", "relative"), [
    ("tokens_per_second", 12_500, 18_200, 0.456),  # DOMAIN F01
    ("peak_memory_mb", 28.5, 19.1, 0.3298),  # F03
    ("tpot_ms", 15.8, 10.2, 0.3544),  # F04
    ("tokens_per_second", 11_800, 19_700, 0.6695),  # F05
    ("communication_share", 0.35, 0.22, 0.3714),  # F06
    ("tokens_per_second", 100, 80, -0.2)])
def test_gains_as_the_guide_s_figures_recomputed(name, before, after, relative):
    assert gain(BY_NAME[name], before, after).relative == pytest.approx(relative, abs=5e-5)


def test_shares_change_in_points():
    assert gain(BY_NAME["communication_share"], 0.35, 0.22).points == pytest.approx(-13)


@pytest.mark.parametrize(("before", "after"), [(None, 1), (1, None), (0, 1)])
def test_no_gain_without_two_values(before, after):
    assert gain(BY_NAME["latency_ms"], before, after) is None


def gains(model, name="iteration_time_ms"):
    """(relative gain, relative total) per round in per cent."""
    cells = [next(c for c in row.cells if c.metric.name == name) for row in history(model).rows]
    return [tuple(g and round(100 * g.relative, 2) for g in (cell.gain, cell.total))
            for cell in cells]


def test_the_whole_is_the_last_run_against_the_first_not_a_sum(model, run, record):
    for milliseconds in (500, 400, 300):
        record(run(milliseconds))
    assert gains(model) == [(None, None), (20.0, 20.0), (25.0, 40.0)]  # 20 + 25 is not 40
    [total] = [c.total for c in history(model).totals if c.metric.name == "iteration_time_ms"]
    assert total.relative == pytest.approx(0.4)


def test_a_reverted_change_is_no_base_of_the_next(people, model, run, record):
    record(run(500))
    worse = record(run(600))
    services.set_round_kept(actor=people[Role.CONSULTANT], entry=worse, is_kept=False)
    record(run(400))
    assert gains(model) == [(None, None), (-20.0, -20.0), (20.0, 20.0)]
    with pytest.raises(WrongState):
        services.set_round_kept(actor=people[Role.CONSULTANT], is_kept=False,
                                entry=OptimisationRound.objects.get(number=0))


@pytest.mark.slow
def test_other_numbers_of_cards_are_not_compared(model, run, record):
    for milliseconds, cards in ((500, 8), (250, 16), (200, 16)):
        record(run(milliseconds, cards))
    assert gains(model) == [(None, None), (None, None), (20.0, None)]
    assert not history(model).rows[1].cells[0].is_comparable


def test_a_profile_brings_the_shares_of_its_round(model, run, record, store):
    record(run(500), profile=store("a.csv", trace(65, 35, 0), model))
    record(run(400), profile=store("b.csv", trace(78, 22, 0), model))
    assert gains(model, "communication_share")[1] == (37.14, 37.14)
    assert {m.name for m in history(model).metrics} == {
        "samples_per_second", "iteration_time_ms", "communication_share", "free_share"}


@pytest.mark.slow
def test_a_gain_shows_what_it_cost_in_accuracy(people, model, criterion, store, record):
    record(store("ok.log", megatron_log(np.linspace(4, 2, 200) * 1.001), model))
    record(store("off.log", megatron_log(np.linspace(4, 2, 200) * 1.05), model))
    assert [[v.outcome for v in row.verdicts] for row in history(model).rows] == [
        ["passed"], ["failed"]]
    assert Verdict.objects.count() == 2


def test_what_is_no_round(people, model, run, record, store):
    with pytest.raises(InvalidInput):
        record(store("x.txt", b"hello", model))
    first = run(500)
    record(first, change="")
    with pytest.raises(InvalidInput):
        record(run(400), change=" ")
    with pytest.raises(InvalidInput):
        record(first)
    with pytest.raises(NotAllowed):
        services.record_round(actor=people[Role.REVIEWER], model=model, artifact=run(1),
                              change="x")
    assert [(r.number, r.area) for r in OptimisationRound.objects.all()] == [(0, "start")]


def test_a_round_says_what_its_files_judged_and_which_steps_count(
        people, draft, model, definitions, run, record):
    criterion = services.add_criterion(
        actor=people[Role.MANAGER], criteria_set=draft, model=model, stage=Stage.TRAIN_TUNE,
        definition=definitions["step_time"], threshold=Decimal("600"))
    slow = run(500)
    [verdict] = record(slow).judged
    assert (verdict.criterion, verdict.outcome) == (criterion, "not_provable")
    with override("en"):
        assert dict(verdict_rows.facts(verdict))["Warm-up"] == (
            "the first 5 steps left out; 500 ms with all")
    times = time_values([1000.0] * 5 + [400.0] * 5)
    assert (times["mean"], times["mean_all"]) == (400, 700)


def test_only_the_newest_round_can_be_taken_back(people, model, run, record):
    start, second = record(run(500)), record(run(400))
    with pytest.raises(WrongState):
        services.remove_last_round(actor=people[Role.CONSULTANT], entry=start)
    services.remove_last_round(actor=people[Role.CONSULTANT], entry=second)
    assert list(OptimisationRound.objects.all()) == [start]


def test_queries_of_the_history_are_constant(model, run, record, django_assert_num_queries):
    for milliseconds in (500, 400, 300, 200):
        record(run(milliseconds))
    with django_assert_num_queries(4):
        history(model)


@pytest.mark.slow
def test_bars_with_target_in_the_metric_s_own_unit(people, model, draft, definitions, run, record,
                                                   store):
    baseline = services.record_baseline(
        actor=people[Role.CONSULTANT], model=model, quantity="samples_per_second",
        artifact=store("gpu.log", log(250), model))
    for definition, threshold, base in (("throughput_ratio", "0.8", baseline),
                                        ("step_time", "300", None)):
        services.add_criterion(
            actor=people[Role.MANAGER], criteria_set=draft, model=model, stage="train_tune",
            definition=definitions[definition], threshold=Decimal(threshold), baseline=base)
    record(run(500))
    record(run(400))
    bars = {entry.metric.name: entry for entry in bars_of(model, history(model))}
    shown = {name: (b.baseline, b.before.value, b.after.value, b.target, b.gain.relative)
             for name, b in bars.items()}
    assert shown == {
        "samples_per_second": (40.0, 20.0, 25.0, 32.0, 0.25),
        "iteration_time_ms": (None, 500.0, 400.0, 300.0, 0.2)}


def test_files_of_one_run_are_no_comparison(model, run):
    first, again = run(500, 8), run(500, 8)
    again.job, again.name = first.job, "again.log"
    again.save()
    for artifact in (first, again):
        services.measure_artifact(artifact)
    assert {(b.before, b.is_compared) for b in bars_of(model, history(model))} == {
        (b.after, False) for b in bars_of(model, history(model))}
    later = run(400, 8)
    services.measure_artifact(later)
    assert {(b.before.artifact, b.after.artifact, b.is_compared)
            for b in bars_of(model, history(model))} == {(first, later, True)}


def test_no_gain_without_rounds_and_a_file_stored_twice_is_one_run(people, model, run, record):
    for artifact in (first := run(500, 8), newest := run(400, 8)):
        services.measure_artifact(artifact)
    found = {(b.before.artifact, b.after.artifact, b.is_of_rounds, b.gain, str(b.before_label))
             for b in bars_of(model, history(model))}
    assert found == {(first, newest, False, None, "首次运行")}
    [line] = overview(model.engagement)
    assert (line.first.artifact, line.newest.artifact, line.gain) == (first, newest, None)
    record(first)
    assert not any(b.gain for b in bars_of(model, history(model)))  # a start alone shows none
    record(newest)
    assert {b.gain.relative for b in bars_of(model, history(model))} == {0.2, 0.25}
    [line] = overview(model.engagement)
    assert (line.metric.name, line.gain.relative) == ("samples_per_second", 0.25)


def test_one_file_stored_twice_is_no_comparison(model, run):
    for _time in range(2):
        services.measure_artifact(run(500))
    assert {b.is_compared for b in bars_of(model, history(model))} == {False}


def test_a_baseline_that_nobody_confirmed_is_named_so(people, model, run, store):
    baseline = services.record_baseline(
        actor=people[Role.CONSULTANT], model=model, quantity="samples_per_second",
        artifact=store("gpu.log", log(250), model))
    services.measure_artifact(run(500))

    def of_baseline():
        [bars] = [b for b in bars_of(model, history(model)) if b.baseline]
        return str(bars.baseline_label), before_after._reference(bars)

    with override("en"):
        assert of_baseline() == ("Baseline, not confirmed", "40/s (baseline not confirmed)")
        type(baseline).objects.update(frozen_at="2026-01-01T00:00Z")
        assert of_baseline() == ("Baseline", "40/s")


def test_sources_that_count_in_other_units_share_one_axis():
    points = [Point(8, 100.0, "tokens"), Point(64, 600.0, "tokens"), Point(1, 2.0, "samples"),
              Point(8, 12.0, "samples")]
    rows = scaling_spec(Scaling(points, [], False))["layer"][1]["data"]["values"]
    assert [(row["source"], row["cards"], row["value"]) for row in rows] == [
        ("tokens", 8, 8), ("tokens", 64, 48), ("samples", 1, 1), ("samples", 8, 6)]


def test_scaling_flags_what_cannot_be(model, store, run, people):
    store("a.md", (SAMPLES / "arcface_1_8_32p.md").read_bytes(), model)
    for milliseconds, cards in ((500, 1), (500, 8)):
        services.measure_artifact(run(milliseconds, cards))
    found = {(e.source, e.cards): (round(e.value, 4), e.is_plausible)
             for e in scaling_of(model, "own").efficiencies}
    assert found == {("NPU O1", 8): (1.4904, False), ("NPU O1", 32): (1.3038, False),
                     ("own", 8): (0.125, True)}
