"""From a chain on the engagement's page to the verdict on its criterion. What the migration itself
changes of the environment is accepted by a person before a figure proves anything."""

from decimal import Decimal

import pytest

from assessments import services
from assessments.models import Criterion, Verdict
from assessments.verdicts.environments import unreviewed
from engagements.models import Role
from engagements.services import add_model
from engagements.stages import Stage
from tests.assessments.conftest import signed
from workers import kinds
from workers import services as jobs
from workers.dispatch import runner
from workers.models import ChainRun, JobState


@pytest.fixture
def trained(people, engagement):
    kinds.load_all()
    return add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM", name="LLM",
                     framework="PyTorch 2.1", training_route="mindspeed")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_chain_started_on_the_page_ends_in_a_verdict(client, people, engagement, trained, node,
                                                       definitions, draft):
    reference, *repeats = (runner.drive(jobs.queue_job(
        actor=people[Role.CONSULTANT], kind="adapt.megatron_train", node=node,
        engagement=engagement, model=trained, parameters={"extra": "--practice-device gpu"},
    )).artifacts.get(name="log.txt") for _run in range(3))
    criterion = services.add_criterion(
        actor=people[Role.MANAGER], criteria_set=draft, model=trained, stage=Stage.TRAIN_TUNE,
        definition=definitions["loss_mean_relative_error"], threshold=Decimal("0.02"),
        baseline=services.record_baseline(
            actor=people[Role.CONSULTANT], model=trained, quantity="loss_curve",
            artifact=reference, repeats=repeats, environment={"chip": "GPU"}, source="GPU"))
    signed(people, draft)
    criterion = Criterion.objects.get(pk=criterion.pk)
    client.force_login(people[Role.CONSULTANT])
    page = f"/engagements/{engagement.code}/chains/"
    client.post(f"{page}start/", {
        "model": trained.pk, "chain": "training_verdict", "node": node.pk,
        "given-baseline": reference.pk, "given-seq_length": 4096})
    run = ChainRun.objects.get()
    for position in range(3):
        job = runner.drive(run.jobs.get(position=position).job)
        assert job.state == JobState.SUCCEEDED, (job.kind, job.sentence)
    verdict = Verdict.objects.filter(criterion=criterion).latest("pk")
    assert (verdict.outcome, verdict.reason) == ("not_provable", "environment_unreviewed")
    assert verdict.measurement.job_id == run.jobs.get(position=0).job_id
    services.accept_and_judge(
        actor=people[Role.MANAGER], criterion=criterion, reason="NPU in place of GPU",
        items=[item.name for item in unreviewed(criterion, verdict.measurement)])
    assert Verdict.objects.filter(criterion=criterion).latest("pk").outcome == "passed"
    assert "通过" in client.get(f"/engagements/{engagement.code}/criteria/").content.decode()
