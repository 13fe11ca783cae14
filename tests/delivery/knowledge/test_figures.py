"""The library of measured figures: kept up from what was measured, and asked where it helps."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from assessments.models import Baseline, Measurement
from assessments.services.baselines import add_run, confirm_baseline, explain_baseline
from assessments.services.measurements import measure_artifact
from delivery.knowledge import families, figure_queries
from delivery.knowledge.models import FigureRange, ModelFigure
from delivery.knowledge.models.measured_figure import figure_in_unit
from delivery.knowledge.services import figures
from delivery.planning.models import TimeEntry
from delivery.planning.services import estimates
from engagements import services as engagement_services
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Customer, Engagement, Membership, MigratedModel, Role
from engagements.stages import StageState
from tests.delivery.conftest import api_client
from workers.artifacts.artifact_store import read_artifacts, store_file
from workers.models import Job, JobState, Node
from workers.models.node import Card


@pytest.fixture
def node(db) -> Node:
    found = Node.objects.create(
        name="bms-9", host="10.1.1.9", username="desk", state=Node.State.READY,
        software={"cann": "8.0.RC2", "torch_npu": "2.1.0.post6", "torch": "2.1.0"}, cards_total=8)
    Card.objects.create(node=found, index=0, chip_name="Ascend 910B3",
                        read_at=timezone.now())
    return found


@pytest.fixture
def project(people):
    """An engagement of a further customer with one model."""
    def made(code: str, name: str = "Qwen2-7B", **fields) -> MigratedModel:
        engagement = Engagement.objects.create(
            code=code, name=f"项目{code}", customer=Customer.objects.create(name=f"客户{code}"))
        for role in (Role.MANAGER, Role.CONSULTANT):
            Membership.objects.create(engagement=engagement, user=people[role], role=role)
        model = engagement_services.add_model(
            actor=people[Role.MANAGER], engagement=engagement, code="LLM", name=name,
            **{"parameters_billion": "7.6", **fields})
        return MigratedModel.objects.get(pk=model.pk)

    return made


def run(model: MigratedModel, node: Node, speed: float, **fields) -> Job:
    """A finished training whose log says how fast it was, stored, read and measured."""
    job = Job.objects.create(**{
        "kind": "adapt.megatron_train", "engagement": model.engagement, "model": model,
        "node": node, "state": JobState.SUCCEEDED, "stage": "train_tune", "cards_wanted": 8,
        "finished_at": timezone.now(), "parameters": {"tensor_parallel": 4,
                                                      "pipeline_parallel": 2}, **fields})
    lines = "".join(
        f" [2025-06-24 10:00:{n:02}] iteration {n}/ 5 | consumed samples: {n * 64} | elapsed time "
        f"per iteration (ms): {64 * 4096 / speed * 1000:.1f} | throughput per GPU "
        f"(TFLOP/s/GPU): 1.0 | tokens per sample: 4096 | global batch size: 64 | lm loss: 2.{n}E+00"
        " | loss scale: 1.0 | grad norm: 0.9 | number of skipped iterations: 0 | number of nan "
        "iterations: 0 |\n" for n in range(1, 6))
    artifact = store_file(stream=ContentFile(lines.encode()), name=f"train_{job.pk}.log",
                          engagement=model.engagement, model=model, job=job,
                          is_practice=fields.get("is_practice", False))
    read_artifacts([artifact])
    assert measure_artifact(artifact)
    return job


def speed_of(job: Job) -> float:
    return Measurement.objects.get(job=job, quantity="iteration_time_ms").value


@pytest.mark.parametrize(("name", "more", "family", "size"), [
    ("Qwen2-7B", {"parameters_billion": Decimal("7.6")}, "Qwen", "4–10B"),
    ("客服", {"repository": "https://huggingface.co/meta-llama/Llama-2-70b"}, "Llama", ""),
    ("Qwen2-VL 质检", {"parameters_billion": Decimal(72)}, "Qwen-VL", "50–100B"),
    ("YOLOv8 人员", {}, "YOLO", ""), ("巡检报告", {"task": "文本生成"}, "language model", ""),
    ("人员风险", {"task": "目标检测"}, "object detection", ""), ("某模型", {}, "", ""),
    ("sbert", {"parameters_billion": Decimal("0.1")}, "BERT", "≤0.1B"),
    ("MoE", {"task": "大模型", "parameters_billion": Decimal(671)}, "language model", ">300B"),
])
def test_family_and_size(name, more, family, size):
    model = MigratedModel(name=name, code="M", **more)
    assert (families.family_of(model), families.size_of(model)) == (family, size)


@pytest.mark.parametrize(("text", "chip"), [
    ("Ascend 910B3", "910B3"), ("Ascend910_9391", "910_939"), ("A800 80GB", "A800"),
    ("NVIDIA H20", "H20"), ("310P3", "310P3"), ("客户机房的 8 卡", ""), ("", ""), (None, "")])
def test_chips(text, chip):
    assert families.chip_of(text) == chip


@pytest.mark.parametrize(("value", "unit", "text"), [
    (0.0066, "%", "0.66 %"), (0.41, "%", "41 %"), (18680.5, "/s", "18680/s"),
    (51234.0, "MB", "51234 MB"), (1234567.0, "/s", "1234567/s")])
def test_figures_in_their_unit(value, unit, text):
    assert figure_in_unit(value, unit) == text


def test_strategies():
    job = {"tensor_parallel": 8, "pipeline_parallel": 2, "expert_parallel": 1}
    assert families.strategy_of(32, job) == "×32 TP8 PP2"
    assert (families.strategy_of(1, {}), families.strategy_of(0, job)) == ("×1", "")


@pytest.mark.slow
def test_ranges_over_engagements(project, node):
    one, two, three = (run(project(code), node, speed)
                       for code, speed in (("A1", 20000), ("B2", 24000), ("C3", 40000)))
    run(three.model, node, 100, is_practice=True)
    run(three.model, node, 90, is_regression=True)
    run(three.model, node, 80, state=JobState.FAILED)
    assert figures.refresh_changed() == 3
    found = FigureRange.objects.get(quantity="iteration_time_ms", is_practice=False)
    times = [speed_of(job) for job in (three, two, one)]
    assert (found.family, found.size, found.chip, found.cann, found.framework, found.strategy) == (
        "Qwen", "4–10B", "910B3", "8.0.RC2", "torch_npu 2.1.0.post6", "×8 TP4 PP2")
    assert (found.engagements, found.samples, found.minimum, found.median, found.maximum) == (
        3, 3, *times)
    assert FigureRange.objects.get(
        quantity="iteration_time_ms", is_practice=True).engagements == 1
    # a newer run of the same model with the same software takes the place of the older one
    again = run(one.model, node, 30000)
    assert (figures.refresh_changed(), figures.refresh_changed()) == (1, 0)
    found.refresh_from_db()
    assert (found.samples, found.maximum) == (3, times[1])
    assert ModelFigure.objects.get(model=one.model, quantity="iteration_time_ms").value == (
        speed_of(again))
    retained = list(FigureRange.objects.values_list(
        "quantity", "is_practice", "engagements", "minimum", "median", "maximum").order_by(
            "quantity", "is_practice"))
    call_command("measured_figures", rebuild=True)
    assert list(FigureRange.objects.values_list(
        "quantity", "is_practice", "engagements", "minimum", "median", "maximum").order_by(
            "quantity", "is_practice")) == retained


def test_a_refresh_that_is_cut_off_is_made_again(project, node, monkeypatch):
    for code, speed in (("A1", 20000), ("B2", 24000), ("C3", 40000)):
        run(project(code), node, speed)
    whole, seen = figures.refresh_model, []

    def cut_off(model):
        seen.append(model)
        if len(seen) == 2:
            raise InterruptedError
        whole(model)

    monkeypatch.setattr(figures, "AT_ONCE", 1)
    monkeypatch.setattr(figures, "refresh_model", cut_off)
    with pytest.raises(InterruptedError):
        figures.refresh_changed()
    assert ModelFigure.objects.values("model").distinct().count() == 1
    assert (figures.refresh_changed(), figures.refresh_changed()) == (3, 0)
    assert ModelFigure.objects.values("model").distinct().count() == 3


def test_a_dropped_model_leaves_the_library(project, node, people):
    job = run(project("A1"), node, 20000)
    figures.refresh_changed()
    assert FigureRange.objects.exists()
    MigratedModel.objects.filter(pk=job.model_id).update(dropped_at=timezone.now())
    call_command("measured_figures", rebuild=True)
    assert not FigureRange.objects.exists()


def test_curve_errors_of_judged_runs(delivered):
    MigratedModel.objects.filter(code="LLM").update(name="Qwen 0.1B")
    figures.refresh_changed()
    found = FigureRange.objects.get(quantity="curve_error")
    assert (found.family, found.unit, found.engagements) == ("Qwen", "%", 1)
    assert 0 < found.median < 0.02
    assert not FigureRange.objects.filter(quantity__startswith="loss").exists()


def finish(model: MigratedModel, people, days: int) -> None:
    """The model's stages end after so many days of work."""
    first = date(2025, 1, 1) + timedelta(days=100 * model.engagement_id)
    TimeEntry.objects.bulk_create(TimeEntry(
        engagement=model.engagement, person=people[Role.CONSULTANT], model=model, half=half,
        work_date=first + timedelta(days=day), item="adapt", grade="engineer")
        for day in range(days) for half in ("am", "pm"))
    model.stages.update(state=StageState.PASSED, passed_at=timezone.now())


@pytest.mark.slow
def test_effort_of_finished_models_is_a_hint_for_the_next(project, people, client):
    for code, days in (("A1", 30), ("B2", 42), ("C3", 55)):
        finish(project(code), people, days)
    open_one = project("D4")
    finish(open_one, people, 9)
    open_one.stages.filter(stage="infer_tune").update(state=StageState.IN_PROGRESS)
    figures.refresh_changed()
    assert FigureRange.objects.get(quantity="effort_days").samples == 3
    [found] = figure_queries.similar_effort(open_one.engagement)
    assert (found.engagements, found.minimum, found.median, found.maximum) == (3, 30, 42, 55)
    client.force_login(people[Role.MANAGER])
    page = client.get(reverse("planning:effort", args=["D4"]),
                      headers={"accept-language": "en"}).content.decode()
    assert "3 engagements, effort median 42.0 person-days (30.0 to 55.0)" in page
    assert not [code for code in ("A1", "B2", "C3") if f"客户{code}" in page]
    assert figure_queries.similar_effort(project("E5", name="某模型").engagement) == []


def test_an_estimate_below_all_that_similar_models_took_is_a_risk(project, people, client):
    finish(project("A1"), people, 40)
    model = project("B2")
    estimate = estimates.draft_estimate(actor=people[Role.MANAGER], engagement=model.engagement)
    figures.refresh_changed()
    estimate.lines.filter(model=model).update(low=1, likely=1, high=1)
    with override("en"):
        [hint] = figure_queries.risk_hints(model.engagement)
    assert hint.startswith("LLM is estimated at ")
    assert "1 similar engagement took 40.0 to 40.0" in hint
    client.force_login(people[Role.MANAGER])
    assert hint in client.get(reverse("planning:control", args=["B2"]),
                              headers={"accept-language": "en"}).content.decode()
    estimate.lines.filter(model=model).update(low=90, likely=90, high=90)
    assert figure_queries.risk_hints(model.engagement) == []


def test_a_curve_error_that_nobody_reached_is_a_risk(delivered, project, people):
    llm = MigratedModel.objects.get(code="LLM", engagement=delivered)
    MigratedModel.objects.filter(pk=llm.pk).update(name="Qwen 7B", parameters_billion=7)
    other = project("A1")
    ModelFigure.objects.create(engagement=other.engagement, model=other, family="Qwen",
                               size="4–10B", quantity="curve_error", unit="%", value=0.05)
    with override("en"):
        hints = figure_queries.risk_hints(delivered)
    assert "LLM promises a curve error of at most 2" in hints[0]


@pytest.mark.slow
def test_a_baseline_far_from_all_others_is_asked_about(project, node, people, client):
    for code, speed in (("A1", 20000), ("B2", 24000)):
        run(project(code), node, speed)
    figures.refresh_changed()
    model, manager = project("C3"), people[Role.MANAGER]

    def baseline(speed: float) -> Baseline:
        job = run(model, node, speed, stage="survey")
        artifact = job.artifacts.get()
        from assessments.services import record_baseline

        made = record_baseline(actor=people[Role.CONSULTANT], model=model, artifact=artifact,
                               quantity="iteration_time_ms", environment={"chip": "A800"})
        for _n in range(2):
            add_run(actor=people[Role.CONSULTANT], baseline=made,
                    artifact=run(model, node, speed * 1.001 + _n, stage="survey").artifacts.get())
        return made

    usual, far = baseline(15000), baseline(1000)
    confirm_baseline(actor=manager, baseline=usual)
    with override("en"), pytest.raises(InvalidInput) as refused:
        confirm_baseline(actor=manager, baseline=far)
    expected = "more than three times outside the range measured in 2 engagements for Qwen 4–10B"
    assert expected in str(refused.value)
    shown = api_client(manager).get(f"/api/v1/baselines/{far.pk}/").json()
    assert len(shown["questions"]) == 1
    client.force_login(manager)
    page = reverse("assessments:baseline", args=[far.pk])
    assert shown["questions"][0] in client.get(
        page, headers={"accept-language": "en"}).content.decode()
    with pytest.raises(InvalidInput):
        explain_baseline(actor=manager, baseline=far, explanation=" ")
    with pytest.raises(NotAllowed):
        explain_baseline(actor=people[Role.SALES], baseline=far, explanation="x")
    client.post(reverse("assessments:baseline_explain", args=[far.pk]),
                {"explanation": "One card only"})
    far.refresh_from_db()
    assert far.explanation == "One card only"
    confirm_baseline(actor=manager, baseline=far)
    assert AuditEntry.objects.filter(action="baseline.explain").count() == 1
    Baseline.objects.filter(pk=far.pk).update(frozen_at=timezone.now())
    with pytest.raises(WrongState):
        explain_baseline(actor=manager, baseline=far, explanation="late")


def test_the_customer_reads_no_question(project, node, people, client):
    for code, speed in (("A1", 20000), ("B2", 24000)):
        run(project(code), node, speed)
    figures.refresh_changed()
    model = project("C3")
    Membership.objects.create(engagement=model.engagement, user=people[Role.REVIEWER],
                              role=Role.REVIEWER)
    far = Baseline.objects.create(
        model=model, quantity="iteration_time_ms", value=900000, unit="ms",
        explanation="only ours", artifact=run(model, node, 900, stage="survey").artifacts.get())
    assert figure_queries.question_about(far)
    shown = api_client(people[Role.REVIEWER]).get(f"/api/v1/baselines/{far.pk}/").json()
    assert not {"questions", "explanation"} & set(shown)
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("assessments:baseline", args=[far.pk])).content.decode()
    assert "only ours" not in page
    assert "Qwen 4–10B" not in page


@pytest.mark.slow
def test_the_list_names_no_customer_and_is_for_the_firm(project, node, people, client):
    for code, speed in (("A1", 20000), ("B2", 24000)):
        run(project(code), node, speed)
    run(project("Y1", name="YOLOv8", parameters_billion=None), node, 500)
    figures.refresh_changed()
    client.force_login(people[Role.SALES])
    page = client.get(reverse("knowledge:figures"))
    assert page.status_code == 200
    text = page.content.decode()
    assert "×8 TP4 PP2" in text
    assert not [word for word in ("客户A1", "项目A1", "bms-9", "10.1.1.9") if word in text]
    for query, found in (("family=YOLO", {"YOLO"}), ("chip=910B3", {"YOLO", "Qwen"}),
                         ("cann=9", set()), ("quantity=iteration_time_ms", {"YOLO", "Qwen"})):
        rows = client.get(f"{reverse('knowledge:figures')}?{query}").context["page"]
        assert {row.family for row in rows} == found
        reported = api_client(people[Role.SALES]).get(f"/api/v1/measured-figures/?{query}").json()
        assert {row["family"] for row in reported["results"]} == found
    client.force_login(people[Role.REVIEWER])
    assert client.get(reverse("knowledge:figures")).status_code == 404
    assert api_client(people[Role.REVIEWER]).get(
        "/api/v1/measured-figures/").json()["results"] == []
