"""The comparison as a job of the server."""

import json

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from engagements.models import Role
from tests.assessments.conftest import megatron_log
from workers.dispatch.runner import drive
from workers.models import Job
from workers.services import queue_job

GPU = np.linspace(4, 2, 200)


@pytest.fixture
def files(store, model):
    return [store(name, megatron_log(losses), model)
            for name, losses in (("gpu.log", GPU), ("npu.log", GPU * 1.01))]


@pytest.mark.django_db(transaction=True)
def test_a_comparison_job_stores_its_figures(people, model, files):
    job = drive(queue_job(
        actor=people[Role.CONSULTANT], kind="acc.loss_compare", model=model,
        parameters={"baseline": files[0].pk, "candidate": files[1].pk}))
    assert (job.state, job.results["verdict"]) == ("succeeded", "passed")
    stored = {a.name: a for a in job.artifacts.all()}
    with stored["compare.json"].file.open() as file:
        assert json.load(file)["common_points"] == 200
    with stored["compare.csv"].file.open() as file:
        assert len(file.read().splitlines()) == 201


@pytest.mark.django_db(transaction=True)
def test_a_file_of_another_engagement_is_refused(people, model, files):
    files[1].engagement = None
    files[1].save()
    job = drive(queue_job(
        actor=people[Role.CONSULTANT], kind="acc.loss_compare", model=model,
        parameters={"baseline": files[0].pk, "candidate": files[1].pk}))
    assert job.state == "failed"


@pytest.mark.parametrize(("losses", "verdict", "sentence"), [
    (GPU[:20], "not_provable", "Only 20 of 200 baseline steps have a counterpart (10.0 %): not "
                               "enough to judge."),
    (GPU * 1.05, "failed", "5.000 % against the limit of 2 % over 200 steps: not passed."),
    (GPU * 1.01, "passed", "1.000 % against the limit of 2 % over 200 steps: passed."),
    (np.where(np.arange(200) == 150, np.nan, GPU), "failed",
     "1 steps hold a value that is not finite, the first is step 151: not passed.")])
@pytest.mark.django_db(transaction=True)
def test_the_sentence_names_the_reason_of_the_verdict(people, model, files, store, losses,
                                                      verdict, sentence):
    job = drive(queue_job(
        actor=people[Role.CONSULTANT], kind="acc.loss_compare", model=model,
        parameters={"baseline": files[0].pk,
                    "candidate": store("other.log", megatron_log(losses), model).pk}))
    with override("en"):
        assert (job.results["verdict"], job.sentence) == (verdict, sentence)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_page_shows_both_curves_and_where_they_part(people, model, files, store, client,
                                                        stranger):
    parted = np.where(np.arange(200) >= 99, GPU * (1.1 + 0.02 * np.sin(np.arange(200))), GPU)
    job = drive(queue_job(
        actor=people[Role.CONSULTANT], kind="acc.loss_compare", model=model,
        parameters={"baseline": files[0].pk,
                    "candidate": store("other.log", megatron_log(parted), model).pk}))
    client.force_login(people[Role.REVIEWER])
    url = reverse("assessments:job_curve_spec", args=[job.pk])
    page = client.get(reverse("workers:job", args=[job.pk]),
                      headers={"accept-language": "en"}).content.decode()
    assert f'data-chart-url="{url}"' in page
    assert "2 % is that of step 100: baseline" in page
    spec = client.get(url, headers={"accept-language": "en"}).json()
    assert "Differs from step 100" in json.dumps(spec)
    client.force_login(stranger)
    assert client.get(url).status_code == 404


def test_a_job_without_two_curves_has_no_chart(client, people, model, files, node):
    job = Job.objects.create(kind="acc.loss_compare", state="failed", model=model,
                             finished_at=timezone.now(),
                             engagement=model.engagement, created_by=people[Role.CONSULTANT])
    client.force_login(people[Role.CONSULTANT])
    assert client.get(reverse("assessments:job_curve_spec", args=[job.pk])).status_code == 404
    assert b"data-chart-url" not in client.get(
        reverse("workers:job", args=[job.pk])).content
