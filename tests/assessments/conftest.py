"""Curves, files and a project with signed criteria."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from assessments import services
from assessments.models import MetricDefinition
from engagements.models import Role
from engagements.services import add_model
from engagements.stages import Stage
from tests.cached_fixtures import cached_fixture
from toolreaders.training.series import LossSeries
from workers.models import Job, Node
from workers.services import upload_artifact

SAMPLES = Path(__file__).parents[1] / "samples" / "curves"


def curve(losses, *, first=1, interval=1, meaning="point", base=1, unit="step") -> LossSeries:
    """A loss curve with regular steps."""
    losses = np.asarray(losses, dtype=float)
    steps = first + interval * np.arange(len(losses))
    return LossSeries(steps=steps, losses=losses, interval=interval, meaning=meaning,
                      step_base=base, step_unit=unit)


def megatron_log(losses) -> bytes:
    """A training log as Megatron prints it, ten sequences per batch, 500 ms per iteration."""
    total = len(losses)
    return "".join(
        f" iteration {n:8d}/{total:8d} | consumed samples: {10 * n:12d} | elapsed time per "
        f"iteration (ms): 500.0 | learning rate: 1.000000E-04 | global batch size:    10 | "
        f"lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 1.000 |\n"
        for n, loss in enumerate(losses, 1)).encode()


@pytest.fixture
def store(people, engagement):
    """Stores bytes as a file of the engagement."""
    def put(name: str, data: bytes, model=None, is_practice=False):
        return upload_artifact(
            actor=people[Role.CONSULTANT], engagement=engagement, model=model,
            upload=SimpleUploadedFile(name, data), is_practice=is_practice)
    return put


@pytest.fixture
@cached_fixture
def model(people, engagement):
    return add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                     name="巡检报告生成大模型", name_en="Report model")


@pytest.fixture
@cached_fixture
def definitions(db) -> dict[str, MetricDefinition]:
    services.load_standard_definitions()
    return {row.code: row for row in MetricDefinition.objects.all()}


@pytest.fixture
@cached_fixture
def baseline(people, model, store):
    """The GPU's loss curve: 200 steps from 4.0 down to 2.0, and two repeats close to it."""
    return services.record_baseline(
        actor=people[Role.CONSULTANT], model=model, quantity="loss_curve",
        artifact=store("gpu.log", megatron_log(np.linspace(4, 2, 200)), model),
        environment={"cards": "8 × A100"}, source="GPU cluster", repeats=[
            store(f"gpu-{n}.log", megatron_log(np.linspace(4, 2, 200) * (1 + n / 10**4)), model)
            for n in (1, 2)])


@pytest.fixture
@cached_fixture
def draft(people, engagement):
    return services.draft_criteria(actor=people[Role.MANAGER], engagement=engagement)


def signed(people, draft):
    """The draft, confirmed by the customer's reviewer, signed by an administrator."""
    services.confirm_criteria(actor=people[Role.REVIEWER], criteria_set=draft)
    return services.sign_criteria(actor=people[Role.ADMINISTRATOR], criteria_set=draft)


@pytest.fixture
@cached_fixture
def criterion(people, draft, model, definitions, baseline):
    """Mean relative error < 2 %, in a signed set."""
    row = services.add_criterion(
        actor=people[Role.MANAGER], criteria_set=draft, model=model,
        definition=definitions["loss_mean_relative_error"], stage=Stage.TRAIN_TUNE,
        threshold=Decimal("0.02"), baseline=baseline)
    signed(people, draft)
    row.refresh_from_db()
    return row


def log(milliseconds: float) -> bytes:
    """A training log of ten sequences per step."""
    return megatron_log(np.linspace(4, 2, 30)).replace(b"(ms): 500.0", b"(ms): %.1f" % milliseconds)


def trace(computing: float, communication: float, free: float) -> bytes:
    stage = computing + communication + free
    return ("Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"
            f"Bubble,Preparing\n1,{computing},{communication},0,{communication},{free},{stage},"
            "0,0\n").encode()


@pytest.fixture
def run(store, model):
    """A stored training log with the given time per step, perhaps of a job on some cards."""
    def put(milliseconds: float, cards: int = 0):
        artifact = store(f"{milliseconds}.log", log(milliseconds), model)
        if cards:
            node, _new = Node.objects.get_or_create(
                name="n", defaults={"host": "h", "username": "u"})
            artifact.job = Job.objects.create(kind="adapt.megatron_train", model=model, node=node,
                                              engagement=model.engagement, cards_wanted=cards,
                                              results={"device": "npu 0"})
            artifact.save()
        return artifact
    return put


@pytest.fixture
def record(people, model):
    def add(artifact, change="changed", **fields):
        return services.record_round(actor=people[Role.CONSULTANT], model=model,
                                     artifact=artifact, change=change, **fields)
    return add
