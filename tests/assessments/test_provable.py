"""What makes a verdict not provable, whatever the arithmetic says; runs and their selection."""

from decimal import Decimal

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from assessments import services
from assessments.models import Baseline, MetricDefinition
from assessments.services import baselines
from assessments.verdicts.computation import cards_of
from assessments.verdicts.environments import compared, unreviewed
from delivery.documents.bilingual import in_language
from delivery.reports.facts import agreement_sheets
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import ApiToken, AuditEntry, Role
from engagements.services.agents import create_agent
from engagements.stages import Stage
from tests.assessments.conftest import megatron_log
from tests.assessments.conftest import signed as signed_by_both
from tests.cached_fixtures import cached_fixture
from toolreaders.verdicts.selection import judge_runs, withheld
from toolreaders.verdicts.spread import spread_of
from toolreaders.verdicts.verdict import (
    FAILED,
    NOT_PROVABLE,
    PASSED,
    Outcome,
    Rule,
    judge_values,
)
from workers.artifacts import provenance
from workers.models import Job, Node
from workers.services import upload_artifact

GPU = np.linspace(4, 2, 200)


@pytest.fixture
def manager(people):
    return people[Role.MANAGER]


@pytest.fixture
def reviewer(people):
    return people[Role.REVIEWER]


@pytest.fixture
def consultant(people):
    return people[Role.CONSULTANT]


@pytest.fixture
def judged(consultant, model, store):
    def judge(losses, name="npu.log"):
        return services.measure_file(actor=consultant, model=model,
                                     artifact=store(name, megatron_log(losses), model))
    return judge


@pytest.fixture
@cached_fixture
def on_node(criterion, judged, engagement, model):
    """The criterion's run, as a job of a node with known software brought it."""
    verdict, = judged(GPU * 1.001)
    node = Node.objects.create(name="bms-1", host="127.0.0.1", username="x",
                               software={"CANN": "8.0", "Data set": "v3"}, cards_total=8)
    job = Job.objects.create(kind="adapt.megatron_train", engagement=engagement, model=model,
                             node=node, cards_wanted=8)
    verdict.measurement.job = job
    verdict.measurement.save()
    return criterion


def describe(criterion, **facts):
    Baseline.objects.filter(pk=criterion.baseline_id).update(environment=facts)
    criterion.refresh_from_db()
    criterion.baseline.refresh_from_db()


@pytest.mark.slow
def test_a_draft_decides_nothing(manager, draft, model, definitions, baseline, judged):
    services.add_criterion(
        actor=manager, criteria_set=draft, model=model, stage=Stage.TRAIN_TUNE,
        definition=definitions["loss_mean_relative_error"], threshold=Decimal("0.02"),
        baseline=baseline)
    verdict, = judged(GPU * 1.001)
    assert (verdict.outcome, verdict.reason) == ("not_provable", "criteria_unsigned")
    assert verdict.figure == pytest.approx(0.001, rel=1e-3)


def test_different_units_cannot_be_compared(criterion, judged):
    verdict, = judged(GPU)
    Baseline.objects.filter(pk=criterion.baseline_id).update(unit="ms")
    verdict.measurement.unit = "s"
    verdict.measurement.save()
    criterion.refresh_from_db()
    assert services.judge_criterion(criterion).reason == "units_differ"


def test_an_unreviewed_difference_withholds_the_verdict(on_node):
    describe(on_node, **{"data set": "v2", "CUDA": "12.1", "cards": "8"})
    verdict = services.judge_criterion(on_node)
    assert (verdict.outcome, verdict.reason) == ("not_provable", "environment_unreviewed")
    states = {item.name: item.state for item in compared(on_node, verdict.measurement)}
    assert states == {"cann": "one_sided", "cards": "same", "cuda": "one_sided",
                      "dataset": "differs"}


def test_an_accepted_difference_is_judged_at_once(on_node, manager):
    describe(on_node, **{"data set": "v2"})
    services.judge_criterion(on_node)
    verdict = services.accept_and_judge(actor=manager, criterion=on_node, items=["data set"],
                                        reason="v3 only renames the files")
    assert verdict.outcome == "passed"
    assert list(unreviewed(on_node, verdict.measurement)) == []
    assert AuditEntry.objects.filter(action="difference.accept").count() == 1
    describe(on_node, **{"data set": "v1"})
    assert services.judge_criterion(on_node).reason == "environment_unreviewed"


def test_who_may_accept_a_difference_and_how(on_node, manager, reviewer, consultant):
    describe(on_node, **{"data set": "v2"})
    services.judge_criterion(on_node)
    with pytest.raises(NotAllowed):
        services.accept_and_judge(actor=consultant, criterion=on_node, items=["data set"],
                                  reason="x")
    with pytest.raises(InvalidInput):
        services.accept_and_judge(actor=manager, criterion=on_node, items=["data set"], reason=" ")
    with pytest.raises(InvalidInput):
        services.accept_and_judge(actor=manager, criterion=on_node, items=["cann"], reason="x")
    assert services.accept_and_judge(actor=reviewer, criterion=on_node, items=["data set"],
                                     reason="agreed").outcome == "passed"


@pytest.mark.slow
def test_a_signed_selection_rule_judges_several_runs(criterion, judged):
    MetricDefinition.objects.filter(pk=criterion.definition_id).update(selection="worst", runs=3)
    assert [v.reason for v in judged(GPU * 1.001, "1.log")] == ["too_few_runs"]
    judged(GPU * 1.03, "2.log")
    verdict, = judged(GPU * 1.002, "3.log")
    assert verdict.outcome == "failed"
    assert verdict.figure == pytest.approx(0.03, rel=1e-3)
    assert [run["outcome"] for run in verdict.facts["runs"]] == ["passed", "failed", "passed"]


@pytest.mark.slow
def test_a_file_that_was_stored_twice_is_one_run(criterion, judged):
    MetricDefinition.objects.filter(pk=criterion.definition_id).update(selection="mean", runs=2)
    judged(GPU * 1.001, "1.log")
    verdict, = judged(GPU * 1.001, "again.log")
    assert verdict.reason == "too_few_runs"
    verdict, = judged(GPU * 1.002, "2.log")
    assert (verdict.outcome, len(verdict.facts["runs"])) == ("passed", 2)


@pytest.mark.slow
def test_one_practice_run_among_those_judged_marks_the_verdict(
        criterion, judged, consultant, model, store):
    MetricDefinition.objects.filter(pk=criterion.definition_id).update(selection="mean", runs=2)
    services.measure_file(actor=consultant, model=model, artifact=store(
        "practice.log", megatron_log(GPU * 1.001), model, is_practice=True))
    marks = [judged(GPU * factor, f"{factor}.log")[0].is_practice for factor in (1.002, 1.003)]
    assert marks == [True, False]  # of the last two runs


def test_the_baselines_own_file_proves_nothing(criterion, judged):
    verdict, = judged(GPU)
    assert (verdict.outcome, verdict.reason) == ("not_provable", "same_file")


def test_cards_of_all_nodes_and_of_computed_figures():
    def cards(wanted, **parameters):
        return cards_of(Job(cards_wanted=wanted, parameters=parameters))

    assert (cards(8, nodes=4), cards(8), cards(0, cards_used=32)) == (32, 8, 32)
    assert (cards(0), cards_of(None)) == (None, None)


def test_the_mean_of_several_runs_is_exact():
    """1/3 and 2/3 are 1/2 on average; their doubles are a little less."""
    runs = [judge_values("ratio", c, 3.0, threshold=Decimal("0.5"), rule=Rule(comparison="ge"))
            for c in (1.0, 2.0)]
    found = judge_runs(runs, "mean", 2, Decimal("0.5"), Rule(comparison="ge"))
    assert (found.outcome, found.figure) == (PASSED, 0.5)


@pytest.mark.parametrize("selection", ["mean", "worst", "best"])
def test_a_nan_in_any_run_fails_before_what_proves_nothing(selection):
    runs = [Outcome(NOT_PROVABLE, None, "too_little_coverage"), Outcome(FAILED, None, "nonfinite")]
    assert judge_runs(runs, selection, 2, Decimal("0.02"), Rule()).reason == "nonfinite"


def outcome(figure, state=PASSED):
    return Outcome(state, figure, "threshold_met" if state == PASSED else "threshold_missed")


@pytest.mark.parametrize(("selection", "comparison", "expected"), [
    ("last", "lt", (PASSED, 0.01)), ("worst", "lt", (FAILED, 0.03)), ("best", "lt", (PASSED, 0.01)),
    ("mean", "lt", (FAILED, 0.02)), ("mean", "le", (PASSED, 0.02)), ("worst", "ge", (PASSED, 0.01)),
])
def test_selection_rules(selection, comparison, expected):
    runs = [outcome(0.01), outcome(0.03, FAILED), outcome(0.02)]
    found = judge_runs(runs, selection, 3, Decimal("0.02"), Rule(comparison=comparison))
    assert (found.outcome, found.figure) == expected


def test_a_nan_stays_failed_whatever_is_lacking():
    failed = Outcome(FAILED, None, "nonfinite")
    assert withheld(failed, "criteria_unsigned") == failed
    assert withheld(outcome(0.01), "criteria_unsigned").outcome == NOT_PROVABLE
    assert withheld(outcome(0.01), None).outcome == PASSED


def test_spread():
    found = spread_of([1.0, 2.0, 3.0, 4.0])
    assert (found.runs, found.mean, found.smallest, found.largest) == (4, 2.5, 1.0, 4.0)
    assert found.deviation == pytest.approx(1.2909944487358056)
    assert (found.holds(4.0), found.holds(4.1), spread_of([])) == (True, False, None)
    assert spread_of([5.0]).deviation is None


@pytest.mark.slow
def test_a_baseline_has_repeats_a_spread_and_drift(consultant, manager, reviewer, baseline, model,
                                                   store):
    def run(name, factor):
        return baselines.add_run(actor=consultant, baseline=baseline,
                                 artifact=store(name, megatron_log(GPU * factor), model))
    run("a.log", 1.001)
    run("b.log", 1.003)
    found = baselines.spread(baseline)
    assert (found.runs, found.is_repeatable) == (5, True)
    assert found.smallest == pytest.approx(0.0001, rel=1e-3)  # the first run is no repeat of itself
    assert found.largest == pytest.approx(0.003, rel=1e-3)
    with pytest.raises(InvalidInput):
        baselines.add_run(actor=consultant, baseline=baseline, artifact=baseline.artifact)
    baselines.confirm_baseline(actor=manager, baseline=baseline)
    baseline.refresh_from_db()
    assert baseline.frozen_at is None
    baselines.confirm_baseline(actor=reviewer, baseline=baseline)
    baseline.refresh_from_db()
    assert baseline.frozen_at is not None
    with pytest.raises(WrongState):
        baselines.confirm_baseline(actor=reviewer, baseline=baseline)
    run("c.log", 1.002)
    outside = run("d.log", 1.01)
    assert baselines.drifted(baseline) == [outside]
    assert baselines.spread(baseline).runs == 5


def test_a_repeat_that_is_not_finite_is_refused(consultant, baseline, model, store):
    losses = GPU.copy()
    losses[50] = np.nan
    with pytest.raises(InvalidInput):
        baselines.add_run(actor=consultant, baseline=baseline,
                          artifact=store("nan.log", megatron_log(losses), model))


def test_a_consultant_confirms_for_neither_side(consultant, baseline):
    with pytest.raises(NotAllowed):
        baselines.confirm_baseline(actor=consultant, baseline=baseline)


def test_the_reviewers_confirmation_holds_for_this_draft_only(people, manager, reviewer, draft,
                                                              model, definitions, baseline):
    def add(code, threshold):
        return services.add_criterion(
            actor=manager, criteria_set=draft, model=model, definition=definitions[code],
            stage=Stage.TRAIN_TUNE, threshold=Decimal(threshold), baseline=baseline)
    add("loss_mean_relative_error", "0.02")
    services.confirm_criteria(actor=reviewer, criteria_set=draft)
    assert services.customers_confirmation(draft).confirmed_by == reviewer
    add("loss_first_step", "0.005")
    assert services.customers_confirmation(draft) is None
    with pytest.raises(InvalidInput):
        services.sign_criteria(actor=people[Role.ADMINISTRATOR], criteria_set=draft)
    signed = signed_by_both(people, draft)
    assert (signed.state, signed.customer_signatory) == ("signed", str(reviewer))
    with pytest.raises(WrongState):
        services.confirm_criteria(actor=reviewer, criteria_set=signed)


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "is_asked"), [(1.009, False), (1.032, True)])
def test_a_baseline_that_scatters_by_half_the_threshold_has_to_be_explained(
        client, manager, criterion, store, model, consultant, people, factor, is_asked):
    wide = services.record_baseline(
        actor=consultant, model=model, quantity="loss_curve",
        artifact=store("wide.log", megatron_log(GPU * 1.1), model), repeats=[
            store(f"wide-{n}.log", megatron_log(GPU * 1.1 * (1 + (factor - 1) / n)), model)
            for n in (1, 2)])
    draft = services.draft_criteria(actor=manager, engagement=model.engagement)
    services.add_criterion(
        actor=manager, criteria_set=draft, model=model, definition=criterion.definition,
        stage=criterion.stage, threshold=criterion.threshold, baseline=wide)
    found = baselines.scatter_question(wide)
    assert bool(found) is is_asked
    if is_asked:
        assert "3.2 %" in found
        with pytest.raises(InvalidInput, match=r"3\.2 %"):
            baselines.confirm_baseline(actor=manager, baseline=wide)
        baselines.explain_baseline(actor=consultant, baseline=wide, explanation="cold caches")
    baselines.confirm_baseline(actor=manager, baseline=wide)
    client.force_login(consultant)
    page = client.get(reverse("assessments:criterion", args=[wide.criteria.get().pk])).content
    assert ("cold caches" in page.decode()) is is_asked
    source = Source(Document(engagement=model.engagement, kind="AG"))
    source.__dict__["baselines"] = [wide]
    told = str(in_language(agreement_sheets.repeats(source), "en"))
    assert ("cannot tell a difference from noise" in told) is is_asked


@pytest.mark.slow
def test_what_an_agent_declares_is_no_evidence(consultant, engagement, model, store, criterion):
    """Whatever it says; the same bytes from a person count, and so does a newer job."""
    _agent, _key = create_agent(actor=consultant, engagement=engagement, name="Adapter")
    signed_in = type(consultant).objects.get(pk=consultant.pk)
    signed_in.token = ApiToken.objects.get(agent__isnull=False)

    def declare(losses):
        artifact = upload_artifact(actor=signed_in, engagement=engagement, model=model,
                                   upload=SimpleUploadedFile("npu.log", megatron_log(losses)))
        verdict, = services.measure_file(actor=signed_in, model=model, artifact=artifact)
        return artifact, verdict

    for losses in (GPU * 1.002, GPU * 1.5, GPU * np.nan):
        artifact, verdict = declare(losses)
        assert (verdict.outcome, verdict.reason) == ("not_provable", "agent_declared")
        assert provenance.of(artifact).origin == "agent"
    declare(GPU * 1.001)
    own = store("own.log", megatron_log(GPU * 1.01), model)
    verdict, = services.measure_file(actor=consultant, model=model, artifact=own)
    assert (verdict.outcome, provenance.of(own).origin) == ("passed", "person")
    _artifact, verdict = declare(GPU * 1.5)
    assert (verdict.outcome, verdict.measurement.artifact) == ("passed", own)
