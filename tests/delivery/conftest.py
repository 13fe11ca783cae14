"""An engagement with everything that a document shows: runs, raw files, baselines, verdicts."""

import io
import math
import random
from copy import deepcopy
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils.translation import get_language
from rest_framework.test import APIClient

from assessments import services as assessing
from assessments.charts.criterion import criterion_chart_spec
from assessments.models import CriteriaSet, Criterion, MetricDefinition
from assessments.services.waivers import accept_difference
from assessments.verdicts.environments import unreviewed
from delivery.acceptance.signing.seals import practice_certificate
from delivery.agreement.services import draft_agreement, enter_values
from delivery.documents.models import CompanyProfile
from delivery.planning.services import control, estimates, plans
from delivery.quotes import services as quoting
from delivery.quotes.models import PriceLine
from engagements import services as engagement_services
from engagements.models import Role
from engagements.stages import Scope
from tests.cached_fixtures import cached_fixture
from tests.delivery.review_steps import SHORT, WORD, Review
from workers.artifacts.artifact_store import is_intact, read_artifacts, store_file
from workers.models import CardLease, Job, JobState, Node

STARTED = datetime(2025, 6, 24, 2, 0, tzinfo=UTC)
GPU = {"chip": "A800 80GB", "cards": 8, "driver": "535.129.03", "cuda": "12.1", "torch": "2.1.0",
       "python": "3.10.12", "os": "Ubuntu 22.04", "seed": 1234}
NPU = {"driver": "24.1.rc2", "firmware": "7.3.0.1.231", "cann": "8.0.RC2", "torch": "2.1.0",
       "torch_npu": "2.1.0.post6", "python": "3.10.12", "os": "EulerOS 2.0", "seed": 1234}
HOSTILE_CELL = "=HYPERLINK(\"http://evil\",\"x\")"


def api_client(user) -> APIClient:
    """The API as the user meets it, in English."""
    client = APIClient(headers={"accept-language": "en"})
    client.force_authenticate(user)
    return client


@pytest.fixture
def api(people):
    """The API for a role: `api(Role.SALES).get(…)`."""
    return lambda role: api_client(people[role])


@pytest.fixture
def outside(stranger):
    """The API for somebody who is a member of nothing."""
    return api_client(stranger)


def loss_log(scale: float = 1.0, seed: int = 7) -> bytes:
    """A training log as CSV: loss falling from about 10.8 to 2.9 in 400 steps, with noise.

    Every fourth step is printed: documents keep each point of a curve, in both languages.
    """
    noise = random.Random(seed)
    rows = ["step,loss"]
    for step in range(4, 401, 4):
        loss = 2.8 + 8 * math.exp(-step / 90) + noise.uniform(-0.04, 0.04)
        rows.append(f"{step},{loss * scale:.6f}")
    return "\n".join(rows).encode() + b"\n"


@pytest.fixture(scope="session")
def _drawn() -> dict[tuple, dict]:
    return {}


@pytest.fixture(autouse=True)
def _charts_drawn_once(_drawn, monkeypatch):
    """Documents of many tests show the same curves; each is drawn once per language."""
    def drawn(criterion, verdict, **options):
        key = (criterion.baseline.artifact.sha256, verdict.measurement.artifact.sha256,
               criterion.definition.code, criterion.definition.version, criterion.threshold,
               verdict.figure, get_language(), *options.items())
        if key not in _drawn or not _are_readable(criterion, verdict):
            _drawn[key] = criterion_chart_spec(criterion, verdict, **options)
        return deepcopy(_drawn[key])

    monkeypatch.setattr("delivery.reports.facts.verdicts.criterion_chart_spec", drawn)


def _are_readable(criterion, verdict) -> bool:
    return all(is_intact(artifact) for artifact in (
        criterion.baseline.artifact, verdict.measurement.artifact))


@pytest.fixture
@cached_fixture
def delivered(engagement, people):
    """Signed criteria of two models: one loss curve passed, one threshold not measured."""
    return deliver(engagement, people)


@pytest.fixture
@cached_fixture
def practised(engagement, people):
    """The same, measured on a practice node."""
    return deliver(engagement, people, is_practice=True)


@pytest.fixture
@cached_fixture
def planned(delivered, people):
    """The delivered engagement with estimate, plan, milestones, a risk and an issue."""
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    common = {"actor": manager, "engagement": delivered}
    # What is not begun is planned from today on; the contract ends behind all of it.
    delivered.starts_on, delivered.ends_on = date(2025, 7, 1), date(2099, 12, 31)
    delivered.save()
    estimate = estimates.draft_estimate(actor=consultant, engagement=delivered)
    estimates.approve_estimate(actor=manager, estimate=estimate)
    made = plans.draft_plan(starts_on=date(2025, 7, 1), **common)
    plans.set_milestones(actor=manager, plan=made, rows=[
        {"name": "终验", "name_en": "Final acceptance", "percent": Decimal(100), "trigger": "FA",
         "task": made.tasks.last()}])
    control.add_risk(title="算子缺失", probability=3, impact=4, response="自行开发",
                     owner=consultant, review_on=date(2025, 8, 1), **common)
    control.add_issue(description=HOSTILE_CELL, level="minor", raised_on=date(2025, 9, 1),
                      due_on=date(2025, 9, 30), owner=consultant, **common)
    return delivered


def deliver(engagement, people, *, is_practice=False, scale=1.004, **columns):
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    engagement.contract_number = "HT-2025-EP-017"
    engagement.description = "变电站智能巡视业务系统的模型由 GPU 迁移到昇腾 NPU。"
    engagement.description_en = "Models of a substation inspection system move to Ascend NPU."
    engagement.save()
    CompanyProfile.objects.get_or_create(name="交付公司", name_en="Delivery company",
                                         credit_code="91350100M000100Y43")
    assessing.load_standard_definitions()
    llm = engagement_services.add_model(actor=manager, engagement=engagement, code="LLM",
                             name="巡检报告生成大模型", name_en="Inspection report model",
                             task="文本生成", framework="PyTorch 2.1.0 + MindSpeed",
                             parameters_billion="0.125")
    psr = engagement_services.add_model(actor=manager, engagement=engagement, code="PSR",
                             name="人员安全风险识别", name_en="Personnel safety risk recognition",
                             task="目标检测", framework="PyTorch 2.1.0")
    base = three_runs(engagement, llm, "gpu/train_baseline.csv", uploaded_by=consultant)
    slow = three_runs(engagement, psr, "gpu/train_psr.csv", seed=3, uploaded_by=consultant)
    draft = assessing.draft_criteria(actor=manager, engagement=engagement)
    for model, files, code in ((llm, base, "loss_mean_relative_error"),
                               (llm, base, "loss_every_step"),
                               (psr, slow, "loss_mean_relative_error")):
        baseline = assessing.record_baseline(
            actor=consultant, model=model, quantity="loss_curve", artifact=files[0],
            environment=GPU, source="customer's GPU cluster", repeats=files[1:])
        assessing.add_criterion(
            actor=manager, criteria_set=draft, model=model, stage="train_tune",
            definition=MetricDefinition.objects.get(code=code, version=1),
            threshold=Decimal("0.02"), baseline=baseline)
    sign_before_runs(people, draft)
    measure(engagement, people, llm, is_practice=is_practice, scale=scale, **columns)
    return engagement


def three_runs(engagement, model, name, seed=7, **fields):
    """A reference run on the source platform and its two repeats."""
    return [stored(engagement, model, name.replace(".", f"_{n}.") if n else name,
                   loss_log(scale=1 + n / 10**5, seed=seed), **fields) for n in range(3)]


def sign_for_both(people, draft):
    """The criteria, confirmed by the customer's reviewer, signed by an administrator."""
    assessing.confirm_criteria(actor=people[Role.REVIEWER], criteria_set=draft)
    return assessing.sign_criteria(actor=people[Role.ADMINISTRATOR], criteria_set=draft)


def sign_before_runs(people, draft):
    """The same, on the day before the runs of `measure`, so that they may be judged by them."""
    sign_for_both(people, draft)
    CriteriaSet.objects.filter(pk=draft.pk).update(signed_at=STARTED - timedelta(days=1))


def measure(engagement, people, model, *, is_practice=False, scale=1.004, **columns):
    """Three runs of a training: one failed, one cancelled, one that is judged; `columns` are of
    their jobs."""
    node, _made = Node.objects.get_or_create(name="bms-01", defaults={
        "host": "10.0.0.8", "username": "desk", "software": NPU, "is_practice": is_practice,
        "state": Node.State.READY, "cards_total": 8})
    for n, state in enumerate([JobState.FAILED, JobState.CANCELLED, JobState.SUCCEEDED]):
        begun = STARTED + timedelta(hours=3 * n)
        job = Job.objects.create(
            **{"kind": "train.pretrain", **columns}, engagement=engagement, model=model,
            stage="train_tune", node=node, is_practice=is_practice, cards_wanted=8, state=state,
            created_by=people[Role.MANAGER if state == JobState.SUCCEEDED else Role.CONSULTANT],
            started_at=begun,
            finished_at=begun + timedelta(minutes=48),
            exit_status=0 if state == JobState.SUCCEEDED else 1,
            command=["torchrun", "--nproc_per_node=8", "pretrain_gpt.py", "--seed", "1234"])
        CardLease.objects.bulk_create(
            CardLease(node=node, card_index=i, job=job, fence=1, taken_at=begun, released_at=begun)
            for i in range(8))
    artifact = stored(engagement, model, "train_npu.csv", loss_log(scale=scale), job=job,
                      is_practice=is_practice)
    measured = assessing.measure_artifact(artifact)
    accept_differences(engagement, people, measured)
    return assessing.judge_affected(measured)


def accept_differences(engagement, people, measured):
    """A manager accepts what the migration itself changes in the environment."""
    for criterion in Criterion.objects.filter(model=measured[0].model):
        for item in unreviewed(criterion, measured[0]):
            accept_difference(
                actor=people[Role.MANAGER], engagement=engagement, item=item.name,
                baseline_value=item.baseline, candidate_value=item.candidate,
                reason="迁移本身的差异")


def stored(engagement, model, name, content, **fields):
    artifact = store_file(stream=io.BytesIO(content), name=name, engagement=engagement,
                          model=model, **fields)
    read_artifacts([artifact])
    return artifact


@pytest.fixture
@cached_fixture
def firm(db):
    """The firm's particulars, without which no quote leaves the house."""
    return CompanyProfile.objects.create(
        name="昇腾迁移交付有限公司", name_en="Ascend Migration Ltd.",
        credit_code="91350100M000100Y43", bank="某银行上海分行", bank_account="6222 0000")


@pytest.fixture
@cached_fixture
def llm(people, engagement):
    return engagement_services.add_model(
        actor=people[Role.MANAGER], engagement=engagement, code="LLM", name="大模型",
        parameters_billion="13")


@pytest.fixture
@cached_fixture
def detector(people, engagement):
    return engagement_services.add_model(
        actor=people[Role.MANAGER], engagement=engagement, code="DET", name="检测模型",
        scope=Scope.INFERENCE)


@pytest.fixture
@cached_fixture
def estimate(people, engagement, llm, detector):
    return estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)


@pytest.fixture
@cached_fixture
def quoted(people, engagement):
    card = quoting.load_rate_cards(actor=people[Role.ADMINISTRATOR])
    quote = quoting.create_quote(actor=people[Role.SALES], engagement=engagement)
    quoting.add_line(actor=people[Role.SALES], quote=quote, quantity=Decimal(10),
                     price=PriceLine.objects.get(card=card, code="S-TRAIN"))
    quote.refresh_from_db()
    quoting.update_quote(actor=people[Role.SALES], quote=quote, source_note="以各行为准")
    quoting.submit_quote(actor=people[Role.SALES], quote=quote)
    quoting.review_quote(actor=people[Role.CONSULTANT], quote=quote)
    quoting.approve_quote(actor=people[Role.MANAGER], quote=quote)
    return quoting.issue_quote(actor=people[Role.SALES], quote=quote)


def enter(engagement, people, **values):
    """Values that the manager enters in the draft of the agreement."""
    return enter_values(actor=people[Role.MANAGER], agreement=draft_agreement(
        actor=people[Role.MANAGER], engagement=engagement), **values)


@pytest.fixture
def quick_files(monkeypatch, request):
    """Typesetting takes seconds; only tests that read the signed pages do it, and them only."""
    modules = ["delivery.reports.rendering", "delivery.acceptance.services.signed_copies"]
    for module in modules[:1] if "typeset" in request.fixturenames else modules:
        monkeypatch.setattr(f"{module}.render_document", lambda *a, **k: SHORT)
    monkeypatch.setattr("delivery.reports.office.word_document.document_docx", lambda *a, **k: WORD)


@pytest.fixture
def typeset():
    """Real pages of signed copies."""


@pytest.fixture
@cached_fixture
def addresses(people):
    for user in people.values():
        user.email = f"{user.username}@firm.example"
        user.save(update_fields=["email"])


@pytest.fixture(scope="session")
def practice_p12() -> bytes:
    """One key for all tests, a short one: each signature checks it, which takes a third of a
    second for one of full length."""
    return practice_certificate.make_pkcs12(b"practice", key_bits=2048)


@pytest.fixture
def practice_certificate_set(practice_p12, settings, tmp_path):
    folder = tmp_path / "signing"
    folder.mkdir()
    (folder / "practice-password").write_bytes(b"practice")
    (folder / "practice.p12").write_bytes(practice_p12)


@pytest.fixture
def act(people) -> Review:
    return Review(people)


@pytest.fixture
@cached_fixture
def review(delivered, act):
    """An acceptance document before the customer."""
    return act.open(delivered, is_checked=True)
