"""Which readings are the target's: never those of a baseline, its repeats or their jobs."""

from decimal import Decimal

import pytest

from assessments import services
from assessments.models import OptimisationRound
from assessments.performance.metric_bars import bars_of
from assessments.performance.overview import overview
from assessments.performance.profiles import step_profiles
from assessments.performance.rounds import history
from assessments.performance.scaling import scaling_of
from assessments.queries import measurements_of
from assessments.services.baselines import add_run
from delivery.knowledge.services.figures import _measured
from engagements.errors import InvalidInput
from engagements.models import Role
from engagements.stages import Stage
from tests.assessments.conftest import trace
from tests.cached_fixtures import cached_fixture
from workers.models import Job, JobInput, JobState, Purpose
from workers.services import queue_job

pytestmark = pytest.mark.django_db
GPU = 100.0  # ms per step on the source platform
RATE = "samples_per_second"


@pytest.fixture
def gpu(people, model, run):
    """The baseline's repeat: a job of a later stage, so that nothing but the baseline says it."""
    reference, repeat = run(99), run(GPU, 8)
    services.record_baseline(actor=people[Role.CONSULTANT], model=model, quantity=RATE,
                             artifact=reference, repeats=[repeat])
    return repeat


@pytest.fixture
@cached_fixture
def criterion(people, model, draft, definitions):
    return services.add_criterion(
        actor=people[Role.MANAGER], criteria_set=draft, model=model, stage=Stage.TRAIN_TUNE,
        definition=definitions["step_time"], threshold=Decimal(300))


def the_repeat(gpu, **_tools):
    return gpu


def the_baseline(model, gpu, **_tools):
    return model.baselines.get().artifact


def a_remeasurement(people, model, run, gpu, **_tools):
    baseline = model.baselines.get()
    model.baselines.update(frozen_at="2026-01-01T00:00Z")
    again = run(101)
    add_run(actor=people[Role.CONSULTANT], baseline=baseline, artifact=again)
    return again


def another_file_of_its_job(run, gpu, **_tools):
    other = run(102)
    other.job, other.name = gpu.job, "rank1.log"
    other.save()
    return other


def a_copy(run, gpu, **_tools):
    return run(GPU, 8)


def a_run_declared_as_of_the_source_platform(run, **_tools):
    other = run(103, 8)
    Job.objects.filter(pk=other.job_id).update(purpose=Purpose.SOURCE)
    return other


def what_the_server_computed_of_it(people, model, run, gpu, **_tools):
    other = run(104)
    other.job = queue_job(actor=people[Role.CONSULTANT], kind="perf.throughput", model=model,
                          stage=Stage.TRAIN_TUNE, parameters={"log": gpu.pk, "seq_length": 1024})
    other.save()
    return other


SOURCES = [the_repeat, the_baseline, a_remeasurement, another_file_of_its_job, a_copy,
           a_run_declared_as_of_the_source_platform, what_the_server_computed_of_it]


@pytest.fixture(params=SOURCES, ids=[make.__name__ for make in SOURCES])
def source(request, people, model, run, gpu):
    """A file of the source platform, older than the target's measurements."""
    file = request.param(people=people, model=model, run=run, gpu=gpu)
    services.measure_artifact(file)
    return file


@pytest.fixture
def target(run, source):
    files = [run(500, 8), run(400, 16)]
    for file in files:
        services.measure_artifact(file)
    return files


def test_every_reader_of_figures_leaves_the_source_platform_out(model, criterion, source, target,
                                                                django_assert_num_queries):
    first, last = target
    Job.objects.update(state=JobState.SUCCEEDED, finished_at=source.created_at)
    assert source.measurements.filter(quantity=RATE).exists()
    with django_assert_num_queries(7):
        bars = {b.metric.name: (b.before.artifact, b.after.artifact)
                for b in bars_of(model, history(model))}
    assert set(bars.values()) == {(first, last)}
    [line] = overview(model.engagement)
    assert (line.first.artifact_id, line.newest.artifact_id) == (first.pk, last.pk)
    assert {(point.cards, point.throughput) for point in scaling_of(model, "own").points} == {
        (8, 20), (16, 25)}
    known = {figure.value for figure in _measured(model) if figure.quantity == RATE}
    assert known == {20, 25}
    judged = [row.artifact for row in measurements_of(criterion)]
    assert judged == [last, first]


def test_a_comparison_of_both_sides_is_the_targets(people, model, gpu, run):
    npu = run(500)
    both = run(300)
    both.job = Job.objects.create(kind="perf.scaling", model=model, engagement=model.engagement)
    both.save()
    for slot, file in (("one", gpu), ("many", npu)):
        JobInput.objects.create(job=both.job, slot=slot, artifact=file, way="in_place")
    services.measure_artifact(both)
    assert {b.after.artifact for b in bars_of(model, history(model))} == {both}


def test_profiles_of_the_source_platform_are_in_no_chart(people, model, store):
    profile, own = (store(name, trace(*parts), model) for name, parts in (
        ("gpu.csv", (60, 30, 10)), ("npu.csv", (70, 20, 10))))
    services.record_baseline(actor=people[Role.CONSULTANT], model=model, artifact=profile,
                             quantity="communication_share")
    assert [reading.artifact for reading in step_profiles(model)] == [own]
    assert [line.model.profile_count for line in overview(model.engagement)] == [1]


def test_a_file_of_the_source_platform_is_no_round_and_no_measurement(people, model, record, gpu):
    with pytest.raises(InvalidInput):
        record(gpu)
    with pytest.raises(InvalidInput):
        services.measure_file(actor=people[Role.CONSULTANT], model=model, artifact=gpu)
    assert not OptimisationRound.objects.exists()


def test_a_round_whose_file_becomes_a_repeat_shows_no_figure(people, model, run, record):
    record(run(500))
    record(run(300))
    services.record_baseline(actor=people[Role.CONSULTANT], model=model, quantity=RATE,
                             artifact=run(99), repeats=[OptimisationRound.objects.last().artifact])
    cells = {cell.metric.name: cell.value for cell in history(model).rows[-1].cells}
    assert (cells["iteration_time_ms"], cells[RATE]) == (None, None)


@pytest.mark.slow
def test_a_verdict_on_what_becomes_a_repeat_is_computed_anew(people, model, criterion, run):
    own, repeat = run(500), run(250)
    for file in (own, repeat):
        services.measure_file(actor=people[Role.CONSULTANT], model=model, artifact=file)
    assert criterion.verdicts.first().measurement.artifact == repeat
    services.record_baseline(actor=people[Role.CONSULTANT], model=model, quantity=RATE,
                             artifact=run(99), repeats=[repeat])
    assert criterion.verdicts.first().measurement.artifact == own
