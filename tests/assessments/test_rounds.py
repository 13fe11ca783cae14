"""The optimisation history: which measurement stands for a round, and what it is compared with."""

import numpy as np
import pytest
from django.utils.translation import override

from assessments import services
from assessments.models import Measurement, Verdict
from assessments.performance.metric_bars import bars_of
from assessments.performance.overview import overview
from assessments.performance.rounds import Cell, History, RoundRow, history, same_cards
from delivery.reports.facts import before_after
from delivery.surveys.services import Change, save_answers, start_survey
from engagements.models import Role
from tests.assessments.conftest import log, megatron_log, trace

TIME, TOKENS = "iteration_time_ms", "tokens_per_second"


def cells(model, name=TIME) -> list[Cell]:
    return [next(c for c in row.cells if c.metric.name == name) for row in history(model).rows]


def shown(cell) -> tuple:
    return (cell.value, *(g and round(g.relative, 4) for g in (cell.gain, cell.total)),
            cell.is_comparable)


def revert(people, entry):
    services.set_round_kept(actor=people[Role.CONSULTANT], entry=entry, is_kept=False)


def test_values_gains_and_totals(model, run, record, people):
    entries = [record(run(milliseconds)) for milliseconds in (500, 400, 600, 300)]
    revert(people, entries[2])
    assert [shown(cell) for cell in cells(model)] == [
        (500.0, None, None, True), (400.0, 0.2, 0.2, True), (600.0, -0.5, -0.2, True),
        (300.0, 0.25, 0.4, True)]
    assert [row.round for row in history(model).rows] == entries


def test_the_totals_are_those_of_the_last_kept_round(model, run, record, people):
    record(run(500))
    assert history(model).totals == []
    second = record(run(400))
    assert [shown(c) for c in history(model).totals if c.metric.name == TIME] == [
        (400.0, 0.2, 0.2, True)]
    third = record(run(300))
    revert(people, third)
    assert [c.value for c in history(model).totals if c.metric.name == TIME] == [400.0]
    revert(people, second)
    assert history(model).totals == []


def test_a_metric_is_compared_with_the_last_round_that_measured_it(model, run, record, store):
    record(run(500), profile=store("a.csv", trace(60, 40, 0), model))
    record(run(400))
    record(run(300), profile=store("b.csv", trace(80, 20, 0), model))
    assert [shown(cell) for cell in cells(model, "communication_share")] == [
        (0.4, None, None, True), (None, None, None, True), (0.2, 0.5, 0.5, True)]
    assert shown(cells(model)[2]) == (300.0, 0.25, 0.4, True)


def test_a_profile_that_lacks_a_metric_takes_none_from_earlier_files(model, run, record, store):
    record(run(500), profile=store("a.csv", trace(60, 40, 0), model))
    record(run(400), profile=run(450))
    assert [cell.value for cell in cells(model, "communication_share")] == [0.4, None]


def test_metrics_are_those_that_any_round_measured(model, run, record):
    assert history(model) == History([], [])
    record(run(500))
    assert [metric.name for metric in history(model).metrics] == ["samples_per_second", TIME]


@pytest.mark.parametrize(("cards", "expected"), [
    ((8, 8), (0.2, 0.2, True)), ((8, 16), (None, None, False)), ((0, 16), (0.2, 0.2, True)),
    ((8, 0), (0.2, 0.2, True))])
def test_runs_on_other_numbers_of_cards(model, run, record, cards, expected):
    for milliseconds, wanted in zip((500, 400), cards, strict=True):
        record(run(milliseconds, wanted))
    assert shown(cells(model)[1])[1:] == expected


def test_a_start_on_other_cards_leaves_the_gain_of_the_round(model, run, record):
    entries = [record(run(*each)) for each in ((500, 8), (300, 16), (240, 16))]
    assert [shown(cell)[1:] for cell in cells(model)][1:] == [
        (None, None, False), (0.2, None, True)]
    assert not same_cards(entries[0], entries[1])
    assert same_cards(entries[1], entries[2])


def test_the_file_of_the_round_counts_before_its_profile_and_its_job(model, run, record):
    """Three files hold a time; the more particular one stands for the round."""
    own, profile, other = run(500, 8), run(400), run(300)
    other.job = own.job
    other.save()
    for artifact in (own, profile, other):
        services.measure_artifact(artifact)
    entry = record(own, profile=profile)
    assert [cell.measurement.artifact for cell in cells(model)] == [own]
    Measurement.objects.filter(artifact=own).delete()
    assert [cell.measurement.artifact for cell in cells(model)] == [profile]
    Measurement.objects.filter(artifact=profile).delete()
    assert [cell.measurement.artifact for cell in cells(model)] == [other]
    Measurement.objects.filter(artifact=other).delete()
    assert (entry.number, history(model).metrics) == (0, [])


def test_files_of_other_rounds_and_empty_values_do_not_count(model, run, record):
    record(run(500))
    record(run(400))
    Measurement.objects.filter(quantity=TIME).latest("pk")
    found = [row.pk for row in Measurement.objects.filter(quantity=TIME).order_by("pk")]
    Measurement.objects.filter(pk=found[1]).update(value=None)
    assert [cell.value for cell in cells(model)] == [500.0, None]


@pytest.mark.slow
def test_verdicts_of_a_round_are_the_newest_on_accuracy(people, model, criterion, store, record):
    losses = np.linspace(4, 2, 200)
    files = [store(f"{n}.log", megatron_log(losses * n), model) for n in (1.001, 1.05)]
    for file in files:
        record(file)
    services.judge_criterion(criterion)
    rows = history(model).rows
    assert [[v.outcome for v in row.verdicts] for row in rows] == [["passed"], ["failed"]]
    assert rows[1].verdicts == [Verdict.objects.filter(
        measurement__artifact=files[1]).latest("pk")]
    Measurement.objects.filter(artifact=files[0], quantity="loss_curve").update(
        quantity="latency_ms")
    assert [len(row.verdicts) for row in history(model).rows] == [0, 1]


def test_practice_is_that_of_the_rounds_file(model, run, record, store):
    record(store("real.log", megatron_log(np.linspace(4, 2, 30)), model))
    record(store("practice.log", megatron_log(np.linspace(4, 2.1, 30)), model, is_practice=True))
    assert [row.is_practice for row in history(model).rows] == [False, True]


def test_rows_are_values(model, run, record):
    entry = record(run(500))
    for thing in (history(model), history(model).rows[0], cells(model)[0],
                  RoundRow(entry, [], [], False, [])):
        with pytest.raises(AttributeError):
            thing.metrics = thing.cells = thing.gain = None


def test_language_models_are_shown_in_tokens_with_the_derivation(
        model, run, record, store, people):
    """By the arguments that the run printed, else by what the survey states; not stored."""
    arguments = (b"--------- arguments ---------\n  seq_length ......... 4096\n"
                 b"------- end of arguments -------\n")
    record(run(500))
    record(store("b.log", arguments + log(400), model))
    with override("en"):
        assert [c.value for c in cells(model, TOKENS)] == [None, 102400.0]
        assert cells(model, TOKENS)[1].measurement.derivation == (
            "25 samples/s × 4,096 tokens (arguments of the run)")
        save_answers(actor=people[Role.CONSULTANT], survey=start_survey(
            actor=people[Role.CONSULTANT], engagement=model.engagement), changes=[
            Change("model_kind@LLM", "llm", 0), Change("sequence@LLM", "1024", 0)])
        [first, second] = cells(model, TOKENS)
        assert (first.value, first.measurement.derivation, first.measurement.pk) == (
            20480.0, "20 samples/s × 1,024 tokens (survey)", None)
        assert (second.value, second.gain.relative) == (102400.0, 4.0)
        assert "= 25 samples/s × 4,096 tokens" in str(
            before_after._row(model, bars_of(model, history(model))[0]))
        assert overview(model.engagement)[0].metric.name == TOKENS
