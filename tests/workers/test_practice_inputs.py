"""Practice data stays practice data: what a job makes of it carries the mark (PRODUCT rule 7)."""

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from engagements.errors import InvalidInput
from engagements.services import add_model
from tests.workers.kinds.outputs import good
from workers import kinds, services
from workers.artifacts.artifact_store import store_file
from workers.dispatch import runner
from workers.models import Job, JobState, Node

FILES = {kind.code: [p.name for p in kind.parameters if p.type == "artifact"]
         for kind in kinds.all_kinds() if any(p.type == "artifact" for p in kind.parameters)}
OTHERS = {"perf.throughput": {"seq_length": 1024}, "perf.scaling": {"nodes": 2}}


@pytest.fixture
def model(people, engagement):
    return add_model(actor=people["manager"], engagement=engagement, code="LLM", name="LLM")


@pytest.fixture
def queue(people, model):
    def go(code, parameters, node=None) -> Job:
        return services.queue_job(actor=people["consultant"], kind=code, model=model, node=node,
                                  parameters=parameters)
    return go


def stored(model, name="train.log", *, is_practice=False):
    return store_file(stream=ContentFile(good("adapt.megatron_train")["log.txt"]), name=name,
                      engagement=model.engagement, model=model, is_practice=is_practice)


def values_of(kind: str, file: int) -> dict:
    declaration = kinds.get(kind)
    return {**{name: value for name, value in declaration.example_parameters().items()
               if declaration.code not in OTHERS}, **OTHERS.get(kind, {}),
            **dict.fromkeys(FILES[kind], file)}


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, names in FILES.items() for n in names])
def test_one_practice_file_marks_the_job_whichever_parameter_names_it(queue, model, kind, name):
    real, practice = stored(model), stored(model, "practice.log", is_practice=True)
    assert not queue(kind, values_of(kind, real.pk)).is_practice
    job = queue(kind, {**values_of(kind, real.pk), name: practice.pk})
    assert job.is_practice
    row = job.inputs.get(slot=name)
    assert (row.artifact, row.reference, row.way) == (
        practice, f"desk:file/{practice.pk}", "in_place")


@pytest.mark.django_db
def test_a_file_that_is_not_there_is_refused_before_anything_runs(queue, model):
    with pytest.raises(InvalidInput, match="desk:file/12345"):
        queue("perf.throughput", values_of("perf.throughput", 12345))


@pytest.mark.django_db(transaction=True)
def test_files_of_a_marked_job_carry_the_mark_to_the_page(client, people, queue, model):
    practice = stored(model, is_practice=True)
    job = runner.drive(queue("acc.loss_compare", {
        "baseline": practice.pk, "candidate": stored(model, "npu.log").pk}))
    assert {file.is_practice for file in job.artifacts.all()} == {True}
    client.force_login(people["consultant"])
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert f"desk:file/{practice.pk}" in page


@pytest.mark.django_db
def test_a_repetition_of_a_practice_job_is_practice(queue, people, engagement, model):
    node = Node.objects.create(name="n", host="h", username="u", state=Node.State.READY,
                               cards_total=8)
    first = Job.objects.create(
        kind="adapt.smoke_train", engagement=engagement, model=model, node=node,
        state=JobState.SUCCEEDED, exit_status=0, command=["true"], parameters={"script": "~/t.py"},
        created_by=people["consultant"], finished_at=timezone.now())
    assert not queue("evi.rerun", {"job": first.pk}, node).is_practice
    Job.objects.filter(pk=first.pk).update(is_practice=True)
    assert queue("evi.rerun", {"job": first.pk}, node).is_practice


@pytest.mark.django_db
def test_a_bundle_of_an_engagement_with_practice_data_is_practice(queue, model):
    stored(model)
    assert not queue("evi.bundle", {}).is_practice
    stored(model, "practice.log", is_practice=True)
    model.engagement.refresh_from_db()
    assert queue("evi.bundle", {}).is_practice
