"""What was made from practice data before jobs took its mark is marked by migrations, and the audit
log knows of it."""

from importlib import import_module

import pytest
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from assessments.models import Criterion, Measurement, Verdict
from assessments.models.criteria import CriteriaSet, MetricDefinition
from assessments.services import load_standard_definitions
from delivery.knowledge.models import FiguresRead
from engagements.audit import audit_log
from engagements.models import AuditEntry
from engagements.services import add_model
from workers.artifacts.artifact_store import store_file
from workers.models import Artifact, Job, JobState

MIGRATIONS = (("workers", "0030_fill_inputs_read_in_place", "fill"),
              ("workers", "0031_mark_practice_jobs", "mark"),
              ("assessments", "0014_mark_practice_readings", "mark"),
              ("knowledge", "0004_read_figures_anew", "read_anew"))
END_SEAL = ("engagements", "0019_audit_chain_end")
PACKAGES = {"knowledge": "delivery.knowledge"}


@pytest.fixture
def model(people, engagement):
    return add_model(actor=people["manager"], engagement=engagement, code="LLM", name="LLM")


@pytest.fixture
def add(people, model):
    def job(kind, **parameters) -> tuple[Job, Artifact]:
        """A job of an earlier version with a file that it left: neither carries a mark."""
        with transaction.atomic():
            made = Job.objects.create(
                kind=kind, engagement=model.engagement, model=model, parameters=parameters,
                created_by=people["consultant"], state=JobState.SUCCEEDED,
                finished_at=timezone.now())
            return made, store_file(stream=ContentFile(kind.encode()), name="out.json", job=made,
                                    engagement=model.engagement, model=model)
    return job


def file(model, name, *, is_practice=False) -> Artifact:
    return store_file(stream=ContentFile(name.encode()), name=name, engagement=model.engagement,
                      model=model, is_practice=is_practice)


def measured(model, artifact) -> Measurement:
    return Measurement.objects.create(model=model, quantity="tokens_per_second", value=1,
                                      artifact=artifact, job=artifact.job)


def verdict(model, measurement, **facts) -> Verdict:
    criteria = CriteriaSet.objects.get_or_create(engagement=model.engagement, version=1)[0]
    criterion = Criterion.objects.create(
        criteria_set=criteria, model=model, threshold=1, stage="train-tune",
        definition=MetricDefinition.objects.first())
    return Verdict.objects.create(criterion=criterion, measurement=measurement, outcome="passed",
                                  reason="threshold_met", engine_version="1", facts=facts)


@pytest.fixture
def migrate(settings):
    settings.MIGRATION_MODULES = {}  # the suite makes its tables of the models
    nodes = [(app, name) for app, name, _run in MIGRATIONS]
    # `migrate` gives migrations the state of all that is applied; the log's end is sealed here.
    apps = MigrationLoader(None).project_state([*nodes, END_SEAL]).apps
    return lambda: _migrate(apps)


def _migrate(apps) -> None:
    for app, name, run in MIGRATIONS:
        with transaction.atomic():
            module = import_module(f"{PACKAGES.get(app, app)}.migrations.{name}")
            getattr(module, run)(apps, None)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_rests_on_practice_data_is_marked_and_nothing_else(model, add, migrate, monkeypatch):
    monkeypatch.setattr("engagements.audit.migrated_rows.BATCH", 2)
    load_standard_definitions()
    real, npu = file(model, "gpu.log"), file(model, "npu.log")
    practice = file(model, "practice.log", is_practice=True)
    clean = [add("acc.loss_compare", baseline=real.pk, candidate=npu.pk),
             add("perf.throughput", log=real.pk)]
    first, report = add("acc.loss_compare", baseline=real.pk, candidate=practice.pk)
    marked = [(first, report), add("perf.throughput", log=report.pk),  # of what a marked one left
              add("evi.rerun", job=first.pk), add("evi.bundle"),
              add("acc.loss_compare", baseline=practice.pk, candidate=npu.pk)]
    readings = [measured(model, artifact) for _job, artifact in (*clean, *marked)]
    verdicts = [verdict(model, row) for row in readings]
    runs = [{"artifact": row.artifact_id} for row in (readings[0], readings[2])]
    verdicts.append(verdict(model, readings[0], runs=runs))
    FiguresRead.objects.create(measurement=5, verdict=5)
    for job, artifact in marked:
        assert (job.is_practice, artifact.is_practice) == (False, False)

    migrate()

    expected = [False] * len(clean) + [True] * len(marked)
    assert [Job.objects.get(pk=job.pk).is_practice for job, _a in (*clean, *marked)] == expected
    assert [Artifact.objects.get(pk=a.pk).is_practice for _j, a in (*clean, *marked)] == expected
    assert [Measurement.objects.get(pk=row.pk).is_practice for row in readings] == expected
    assert [Verdict.objects.get(pk=row.pk).is_practice for row in verdicts] == [*expected, True]
    assert {(row.slot, row.artifact_id, row.way) for row in first.inputs.all()} == {
        ("baseline", real.pk, "in_place"), ("candidate", practice.pk, "in_place")}
    assert FiguresRead.objects.get().measurement == 0
    assert (next(audit_log.findings(), None), list(audit_log.row_differences())) == (None, [])
    entries = AuditEntry.objects.count()
    migrate()  # nothing is left to mark
    assert (next(audit_log.findings(), None), AuditEntry.objects.count()) == (None, entries)
