"""Equal bytes are equal facts: a file that a job made keeps that job's device, purpose and mark
wherever it comes from, and with them its verdict."""

import gzip
import io
import itertools
import lzma
import tarfile
import zipfile

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from assessments import queries, services
from assessments.presentation.verdict_rows import origin
from assessments.verdicts.computation import without_npu
from assessments.verdicts.environments import compared
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role
from tests.assessments.conftest import megatron_log
from workers.artifacts import provenance
from workers.artifacts.artifact_store import read_artifacts, store_file
from workers.dispatch import runner
from workers.models import Job, JobState, Node, Purpose
from workers.services import correct_purpose, queue_job

pytestmark = pytest.mark.django_db
GPU = np.linspace(4, 2, 200)
LOG = megatron_log(GPU * 1.0006)
WAYS = {"job": None, "upload": (b"log.txt", LOG), "again": (b"log.txt", LOG),
        "renamed": (b"npu/run-7.log", LOG), "gzip": (b"log.gz", gzip.compress(LOG)),
        "xz": (b"log.xz", lzma.compress(LOG))}
ORDERS = [tuple(WAYS), tuple(reversed(WAYS)), ("gzip", "job", "upload", "xz", "again", "renamed")]
MAKERS = {  # kind, what its job recorded, practice; outcome and reason of its verdict
    "proven": ("adapt.megatron_train", {"device": "npu 0"}, False, "passed", "threshold_met"),
    "command": ("run.command", {}, False, "not_provable", "no_npu_used"),
    "smoke": ("adapt.smoke_train", {"not_provable": "device"}, False, "not_provable",
              "no_npu_used"),
    "practice": ("adapt.megatron_train", {"device": "npu 3"}, True, "passed", "threshold_met")}


@pytest.fixture
def made(people, model):
    """Stores the log as a job's, as the dispatcher does."""
    def put(kind, results, *, is_practice=False, data=LOG, purpose=Purpose.TUNING):
        node, _new = Node.objects.get_or_create(name="n", host="h", username="u")
        parameters = {"needs_device": False} if kind == "run.command" else {}
        job = Job.objects.create(
            kind=kind, engagement=model.engagement, model=model, node=node, results=results,
            is_practice=is_practice, purpose=purpose, parameters=parameters,
            state=JobState.SUCCEEDED, created_by=people[Role.CONSULTANT],
            finished_at="2026-01-01T00:00Z")
        file = store_file(stream=ContentFile(data), name="log.txt", job=job, model=model,
                          engagement=model.engagement, is_practice=is_practice)
        read_artifacts([file])
        return file
    return put


@pytest.mark.parametrize("order", [
    ORDERS[0], *(pytest.param(order, marks=pytest.mark.everything) for order in ORDERS[1:])],
    ids=itertools.count())
@pytest.mark.parametrize("maker", [
    "command", "smoke", *(pytest.param(maker, marks=pytest.mark.everything)
                          for maker in ("proven", "practice"))])
def test_equal_bytes_are_equal_facts(criterion, people, model, store, made, maker, order):
    kind, results, is_practice, outcome, reason = MAKERS[maker]
    files = {way: made(kind, results, is_practice=is_practice) if way == "job" else
             store(WAYS[way][0].decode(), WAYS[way][1], model) for way in order}
    facts, verdicts = set(), set()
    for file in files.values():
        file.refresh_from_db()
        known = provenance.of(file)
        facts.add((known.job, known.purpose, known.device, known.is_without_device,
                   known.is_practice, known.declared_by))
        [verdict] = services.measure_file(
            actor=people[Role.CONSULTANT], model=model, artifact=file)
        verdicts.add((verdict.outcome, verdict.reason, verdict.figure, verdict.is_practice,
                      origin(verdict)))
    assert facts == {(files["job"].job, "tuning", results.get("device", ""), maker == "smoke",
                      is_practice, "")}
    [verdict] = verdicts
    assert (*verdict[:2], verdict[3]) == (outcome, reason, is_practice)
    assert f"#{files['job'].job_id}" in verdict[4]


def test_an_archive_of_a_trial_s_log_is_no_other_run(criterion, people, model, store, made):
    """It holds the log, and its bytes are others: nothing in it can be judged."""
    made("adapt.smoke_train", {"not_provable": "device"})
    packed, zipped = io.BytesIO(), io.BytesIO()
    member = tarfile.TarInfo("log.txt")
    member.size = len(LOG)
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(member, io.BytesIO(LOG))
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("log.txt", LOG)
    for data in (packed.getvalue(), gzip.compress(packed.getvalue()), zipped.getvalue()):
        with pytest.raises(InvalidInput):
            services.measure_file(actor=people[Role.CONSULTANT], model=model,
                                  artifact=store("npu-logs", data, model))


def test_what_a_person_stores_is_declared_by_them_and_says_so(criterion, people, model, store):
    [verdict] = services.measure_file(actor=people[Role.CONSULTANT], model=model,
                                      artifact=store("npu.log", LOG, model))
    assert verdict.outcome == "passed"
    assert str(people[Role.CONSULTANT]) in origin(verdict)


def test_a_trial_is_refused_with_the_reason_wherever_its_file_comes_from(
        criterion, people, model, store, made):
    trial = made("adapt.smoke_train", {"device": "npu 0"})
    for file in (trial, store("train.log", LOG, model), store("a.gz", gzip.compress(LOG), model)):
        with pytest.raises(InvalidInput):
            services.measure_file(actor=people[Role.CONSULTANT], model=model, artifact=file)
        services.measure_artifact(file)
    assert services.judge_criterion(criterion).outcome == "not_measured"


def test_a_copy_has_the_environment_and_the_cards_of_its_run(
        criterion, people, model, store, made):
    run = made("adapt.megatron_train", {"device": "npu 0"}).job
    Job.objects.filter(pk=run.pk).update(cards_wanted=8)
    Node.objects.update(software={"torch": "2.1.0"})
    type(criterion.baseline).objects.update(environment={"PyTorch": "2.0.1", "cards": "8"})
    [verdict] = services.measure_file(actor=people[Role.CONSULTANT], model=model,
                                      artifact=store("copy.log", LOG, model))
    assert (verdict.outcome, verdict.reason) == ("not_provable", "environment_unreviewed")
    criterion.refresh_from_db()
    found = {item.name: (item.baseline, item.candidate, item.state)
             for item in compared(criterion, verdict.measurement)}
    assert found == {"torch": ("2.0.1", "2.1.0", "differs"), "cards": ("8", "8", "same")}


def test_what_the_server_computes_of_a_log_has_its_device(criterion, people, model, made):
    """A figure computed from the log of a run that showed no NPU shows none either."""
    for results, shown in (({"device": "npu 0"}, "npu 0"), ({"not_provable": "device"}, "")):
        log = made("adapt.megatron_train", results, data=LOG + str(results).encode())
        job = queue_job(actor=people[Role.CONSULTANT], kind="perf.throughput", model=model,
                        parameters={"log": log.pk, "seq_length": 1024})
        report = store_file(stream=ContentFile(str(results).encode()), name="throughput.json",
                            job=job, model=model, engagement=model.engagement)
        known = provenance.of(report)
        assert (known.device, known.is_without_device) == (shown, not shown)
        assert bool(without_npu(known)) is not bool(shown)


def test_a_run_that_counts_is_not_displaced_by_a_trial_without_an_npu(
        criterion, people, model, store, made):
    services.measure_file(actor=people[Role.CONSULTANT], model=model, artifact=made(
        "adapt.megatron_train", {"device": "npu 0"}, data=megatron_log(GPU * 1.001)))
    made("adapt.smoke_train", {"not_provable": "device"})
    [verdict] = services.measure_file(actor=people[Role.CONSULTANT], model=model,
                                      artifact=store("train.log", LOG, model))
    assert verdict.outcome == "passed"
    assert verdict.measurement.artifact.name == "log.txt"


def test_the_interface_gives_the_same_answer(client, criterion, people, model, made):
    made("run.command", {})
    client.force_login(people[Role.CONSULTANT])
    stored = client.post(reverse("api:artifact-upload"), {
        "engagement": model.engagement_id, "model": model.pk, "upload": ContentFile(LOG, "x.log"),
        "purpose": "acceptance"}).json()
    assert stored["purpose"] == "tuning"  # as its job was declared
    found = client.post(reverse("api:criterion-measure", args=[criterion.pk]),
                        {"artifact": stored["id"]}, "application/json").json()
    assert [row["outcome"] for row in found] == ["not_provable"]


def test_what_a_person_declares_last_counts_until_it_is_of_the_source_platform(model, store):
    first = store("a.log", LOG, model)
    first.purpose = Purpose.ACCEPTANCE
    first.save()
    assert provenance.of(store("b.log", LOG, model)).purpose == "acceptance"
    provenance.mark_source(first)
    copy = store("c.log", LOG, model)
    assert provenance.of(copy).purpose == "source"
    assert not queries.of_target(type(copy).objects.filter(pk=copy.pk), file="").exists()


def test_a_run_that_showed_no_npu_is_judged_at_its_end(criterion, made):
    """Not provable, with the reason; one that failed for another cause is not judged."""
    job = made("adapt.megatron_train", {}).job
    for results in ({}, {"not_provable": "device"}):
        assert not criterion.verdicts.exists()
        Job.objects.filter(pk=job.pk).update(state=JobState.READING)
        runner.write(Job.objects.get(pk=job.pk), {"state": JobState.FAILED, "results": results})
    verdict = criterion.verdicts.get()
    assert (verdict.outcome, verdict.reason, verdict.measurement.job) == (
        "not_provable", "no_npu_used", job)


def test_verdicts_follow_a_corrected_purpose(client, criterion, people, model, store):
    manager = people[Role.MANAGER]
    file, copy = store("npu.log", LOG, model), store("again.log", LOG, model)
    services.measure_file(actor=people[Role.CONSULTANT], model=model, artifact=file)

    def outcome(purpose, reason="a mix-up of two folders", artifact=copy, actor=manager) -> str:
        correct_purpose(actor=actor, artifact=artifact, purpose=purpose, reason=reason)
        return criterion.verdicts.latest("pk").outcome

    assert criterion.verdicts.latest("pk").outcome == "passed"
    assert outcome("source") == "not_measured"
    for wrong in ({"purpose": "source"}, {"purpose": "tuning", "reason": " "},
                  {"purpose": "tuning", "artifact": criterion.baseline.artifact}):
        with pytest.raises(InvalidInput):
            outcome(**wrong)
    with pytest.raises(NotAllowed):
        outcome("tuning", actor=people[Role.CONSULTANT])
    client.force_login(manager)
    answer = client.post(reverse("api:artifact-correct-purpose", args=[file.pk]),
                         {"purpose": "acceptance", "reason": "of the NPU"}, "application/json")
    assert answer.json()["purpose"] == "acceptance"
    assert criterion.verdicts.latest("pk").outcome == "passed"
    page = reverse("workers:artifact_purpose", args=[file.pk])
    assert page in client.get(reverse("workers:artifact", args=[file.pk])).content.decode()
    client.post(page, {"purpose": "source", "reason": "of the GPU after all"})
    assert criterion.verdicts.latest("pk").outcome == "not_measured"
    assert AuditEntry.objects.filter(action="artifact.purpose").latest("pk").data == {
        "before": "acceptance", "after": "source", "reason": "of the GPU after all"}
