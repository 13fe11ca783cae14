"""Criteria from draft to signature, measurements, verdicts, gates."""

from decimal import Decimal

import numpy as np
import pytest
from django.utils import timezone
from django.utils.translation import override

from assessments import queries, services
from assessments.models import CriteriaSet, Measurement, MetricDefinition, Verdict
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.gates import evaluate
from engagements.models import AuditEntry, Role
from engagements.services import add_model
from engagements.stages import Stage
from tests.assessments.conftest import megatron_log, signed
from tests.cached_fixtures import cached_fixture
from workers.models import PURPOSE_OF_STAGE, Job, StoredReading

GPU = np.linspace(4, 2, 200)


@pytest.fixture
def manager(people):
    return people[Role.MANAGER]


@pytest.fixture
def consultant(people):
    return people[Role.CONSULTANT]


@pytest.fixture
def judged(consultant, model, store):
    """Judges a candidate curve as an uploaded file; returns the verdicts."""
    def judge(losses, name="npu.log", **fields):
        return services.measure_file(actor=consultant, model=model,
                                     artifact=store(name, megatron_log(losses), model, **fields))
    return judge


def test_standard_definitions_are_loaded_once_and_never_changed(definitions):
    MetricDefinition.objects.filter(code="latency").update(source="agreed on 2025-07-01")
    services.load_standard_definitions()
    assert MetricDefinition.objects.count() == len(definitions)
    assert MetricDefinition.objects.get(code="latency").source == "agreed on 2025-07-01"


@pytest.mark.slow
def test_a_close_curve_passes_and_a_far_one_fails(criterion, judged):
    assert [v.outcome for v in judged(GPU * 1.01)] == ["passed"]
    assert [v.outcome for v in judged(GPU * 1.03, "worse.log")] == ["failed"]
    assert queries.newest_verdict(criterion).outcome == "failed"


@pytest.fixture
def file_of_job(model, store):
    def file(kind, stage):
        artifact = store("npu.log", megatron_log(GPU * 1.01), model)
        artifact.job = Job.objects.create(kind=kind, engagement=model.engagement, model=model,
                                          stage=stage, state="succeeded",
                                          purpose=PURPOSE_OF_STAGE[stage],
                                          results={"device": "npu 0"},
                                          finished_at=timezone.now())
        artifact.save()
        return artifact
    return file


def test_a_trial_is_no_measurement_and_is_refused_with_the_reason(criterion, consultant, model,
                                                                  file_of_job):
    trial = file_of_job("adapt.smoke_train", "train_adapt")
    with pytest.raises(InvalidInput, match="A trial made this file"), override("en"):
        services.measure_file(actor=consultant, model=model, artifact=trial)
    services.measure_artifact(trial)
    assert services.judge_criterion(criterion).outcome == "not_measured"
    [found] = services.measure_file(actor=consultant, model=model, artifact=file_of_job(
        "adapt.megatron_train", "train_tune"))
    assert found.outcome == "passed"


def test_a_run_on_the_source_platform_is_no_measurement(criterion, consultant, model, file_of_job):
    artifact = file_of_job("adapt.megatron_train", "design")
    with override("en"), pytest.raises(InvalidInput, match="source platform"):
        services.measure_file(actor=consultant, model=model, artifact=artifact)
    services.measure_artifact(artifact)
    assert services.judge_criterion(criterion).outcome == "not_measured"


@pytest.mark.slow
def test_a_verdict_holds_figures_counts_and_the_engine(criterion, judged):
    verdict, = judged(GPU * 1.01)
    assert verdict.figure == pytest.approx(0.01, rel=1e-4)
    assert (verdict.facts["common_points"], verdict.facts["coverage"]) == (200, 1.0)
    assert verdict.facts["figures"]["relative_error_of_means"] == pytest.approx(0.01, rel=1e-4)
    assert verdict.engine_version


def test_nan_fails(criterion, judged):
    losses = GPU.copy()
    losses[120:] = np.nan
    verdict, = judged(losses)
    assert (verdict.outcome, verdict.reason) == ("failed", "nonfinite")


def test_a_short_run_is_not_provable(criterion, judged):
    verdict, = judged(GPU[:100])
    assert (verdict.outcome, verdict.reason) == ("not_provable", "too_little_coverage")


def test_nothing_measured(criterion, manager):
    assert queries.latest_verdicts(criterion.criteria_set.engagement) == [(criterion, None)]
    assert services.judge_criterion(criterion, manager).outcome == "not_measured"


def test_a_changed_raw_file_proves_nothing(criterion, judged):
    verdict, = judged(GPU * 1.001)
    stored = verdict.measurement.artifact.file
    with open(stored.path, "ab") as file:
        file.write(b"\n")
    again = services.judge_criterion(criterion)
    assert (again.outcome, again.reason) == ("not_provable", "file_changed")


def test_the_verdict_comes_from_the_raw_file_and_not_from_the_reading(criterion, judged):
    verdict, = judged(GPU * 1.01)
    StoredReading.objects.update(values={"loss": {"points": 1}})
    Measurement.objects.update(value=0)
    assert services.judge_criterion(criterion).figure == verdict.figure


def test_every_computation_is_kept_and_audited(criterion, judged, manager):
    judged(GPU)
    services.judge_criterion(criterion, manager)
    assert Verdict.objects.filter(criterion=criterion).count() == 2
    assert AuditEntry.objects.filter(action="verdict.compute").count() == 2


def test_practice_is_inherited(criterion, judged):
    verdict, = judged(GPU, is_practice=True)
    assert verdict.is_practice


def test_the_baseline_cannot_be_judged_against_itself(criterion, consultant, model):
    with pytest.raises(InvalidInput):
        services.measure_file(actor=consultant, model=model, artifact=criterion.baseline.artifact)
    services.measure_artifact(criterion.baseline.artifact)
    assert services.judge_criterion(criterion).outcome == "not_measured"


def test_a_file_without_anything_to_judge_is_refused(criterion, consultant, model, store):
    with pytest.raises(InvalidInput):
        services.measure_file(actor=consultant, model=model, artifact=store("a.txt", b"hello\n"))


def test_signed_criteria_are_frozen(criterion, manager, model, definitions):
    with pytest.raises(WrongState):
        services.remove_criterion(actor=manager, criterion=criterion)
    with pytest.raises(WrongState):
        services.add_criterion(
            actor=manager, criteria_set=criterion.criteria_set, model=model,
            definition=definitions["latency"], stage=Stage.INFER_TUNE, threshold=Decimal(10))
    with pytest.raises(WrongState):
        services.sign_criteria(actor=manager, criteria_set=criterion.criteria_set)


def test_signing_freezes_the_baseline_and_hashes_every_fact(criterion):
    signed = criterion.criteria_set
    assert criterion.baseline.frozen_at == signed.signed_at
    assert services.content_hash(signed) == signed.content_hash
    criterion.threshold = Decimal("0.03")
    criterion.save()
    assert services.content_hash(signed) != signed.content_hash


def test_a_new_version_copies_and_supersedes(criterion, people, manager, judged):
    judged(GPU * 1.001)
    old = criterion.criteria_set
    new = services.draft_criteria(actor=manager, engagement=old.engagement)
    assert queries.current_criteria(old.engagement) == old
    signed(people, new)
    old.refresh_from_db()
    assert (old.state, new.version) == (CriteriaSet.State.SUPERSEDED, 2)
    assert [verdict.outcome for _row, verdict in queries.latest_verdicts(old.engagement)] == [
        "passed"]


def test_only_one_draft_at_a_time(draft, manager, engagement):
    with pytest.raises(WrongState):
        services.draft_criteria(actor=manager, engagement=engagement)


def test_an_empty_or_incomplete_set_cannot_be_signed(draft, people, manager, model, definitions):
    signer = people[Role.ADMINISTRATOR]
    with pytest.raises(InvalidInput):
        services.sign_criteria(actor=signer, criteria_set=draft)
    services.add_criterion(
        actor=manager, criteria_set=draft, model=model, stage=Stage.TRAIN_TUNE,
        definition=definitions["loss_mean_relative_error"], threshold=Decimal("0.02"))
    with pytest.raises(InvalidInput):
        services.sign_criteria(actor=signer, criteria_set=draft)


def test_a_baseline_of_another_quantity_is_refused(draft, manager, model, definitions, baseline):
    with pytest.raises(InvalidInput):
        services.add_criterion(
            actor=manager, criteria_set=draft, model=model, stage=Stage.TRAIN_TUNE,
            definition=definitions["throughput_ratio"], threshold=Decimal(1), baseline=baseline)


def test_a_baseline_needs_a_file_that_holds_it(consultant, model, store):
    for artifact in (None, store("a.txt", b"hello\n")):
        with pytest.raises(InvalidInput):
            services.record_baseline(actor=consultant, model=model, quantity="loss_curve",
                                     artifact=artifact)


@pytest.fixture
@cached_fixture
def throughput(consultant, model, store):
    """The GPU's throughput: 20 samples per second."""
    return services.record_baseline(
        actor=consultant, model=model, quantity="samples_per_second",
        artifact=store("gpu2.log", megatron_log(GPU), model), repeats=[
            store(f"gpu2-{n}.log", megatron_log(GPU * n), model) for n in (2, 3)])


def test_a_throughput_against_its_baseline(draft, people, manager, throughput, definitions, judged):
    services.add_criterion(
        actor=manager, criteria_set=draft, model=throughput.model, stage=Stage.TRAIN_TUNE,
        definition=definitions["throughput_ratio"], threshold=Decimal(1), baseline=throughput)
    signed(people, draft)
    verdict, = judged(GPU * 1.5)
    assert (verdict.outcome, verdict.figure) == ("passed", 1.0)


def test_whoever_wrote_criteria_does_not_sign_them(people, draft, criterion):
    """Neither who began the draft, nor who put in a threshold of it."""
    manager, admin = people[Role.MANAGER], people[Role.ADMINISTRATOR]
    later = services.draft_criteria(actor=admin, engagement=draft.engagement)
    services.remove_criterion(actor=manager, criterion=later.criteria.get())
    for author in (manager, admin):
        with override("en"), pytest.raises(NotAllowed, match=(
                r"Author of EP2501 V2 is Administrator, Manager; .*Nobody here may do “Sign”")):
            services.sign_criteria(actor=author, criteria_set=later)
    later.refresh_from_db()
    assert later.state == CriteriaSet.State.DRAFT


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.SALES, Role.OPERATOR, Role.CONSULTANT])
def test_only_managers_sign(people, role, draft):
    with pytest.raises(NotAllowed):
        services.sign_criteria(actor=people[role], criteria_set=draft)


def gate(model, stage) -> dict[str, bool]:
    found = {r.code.split(":")[0]: r.is_met for r in evaluate(model.stages.get(stage=stage))}
    return {code: found[code] for code in ("criteria", "verdict") if code in found}


def test_the_design_gate_asks_for_signed_criteria(model, draft):
    assert gate(model, Stage.DESIGN)["criteria"] is False


def test_a_model_without_criteria_is_not_accepted(criterion, manager, engagement):
    other = add_model(actor=manager, engagement=engagement, code="DET", name="缺陷检测")
    assert gate(other, Stage.ACCEPT) == {"criteria": False}


def test_the_gates_follow_the_verdicts(criterion, model, judged):
    assert gate(model, Stage.DESIGN)["criteria"] is True
    assert gate(model, Stage.TRAIN_TUNE) == {"verdict": False}
    judged(GPU * 1.001)
    assert gate(model, Stage.TRAIN_TUNE) == {"verdict": True}
    assert gate(model, Stage.ACCEPT) == {"criteria": True, "verdict": True}
    assert "verdict" not in gate(model, Stage.INFER_TUNE)
