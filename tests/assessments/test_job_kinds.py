"""The comparison as a job of the server."""

import json

import numpy as np
import pytest

from engagements.models import Role
from tests.assessments.conftest import megatron_log
from workers.dispatch.runner import drive
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
