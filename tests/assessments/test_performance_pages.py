"""Charts, pages and REST endpoints of performance."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.translation import override
from rest_framework.test import APIClient

from assessments.charts import as_svg
from assessments.charts.model_charts import CHARTS, chart_spec, chart_svg, charts_of
from assessments.charts.performance import bars_spec
from assessments.models import OptimisationRound
from assessments.performance.metric_bars import bars_of
from assessments.performance.profiles import timelines_of, traces
from assessments.performance.rounds import history
from engagements.models import Role
from tests.assessments.conftest import log, trace
from tests.assessments.test_performance import gains
from tests.cached_fixtures import cached_fixture

SAMPLES = Path(__file__).parents[1] / "samples" / "performance"
CLIP = re.compile(r"clip\d+")  # counted on from picture to picture
TRACE = "rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"


@pytest.fixture(autouse=True)
def _in_english(client):
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    with override("en"):
        yield



@pytest.fixture
@cached_fixture
def full(model, run, record, store):
    """A model with something for every chart."""
    for milliseconds, parts in ((500, (65, 35, 0)), (400, (78, 12, 10))):
        record(run(milliseconds), profile=store("step.csv", trace(*parts), model))
    for name in ("step_trace_time.csv", "op_statistic.csv", "arcface_1_8_32p.md"):
        store(name, (SAMPLES / name).read_bytes(), model)
    store(TRACE, (SAMPLES / "timeline_synthetic" / TRACE).read_bytes(), model)
    return model


def test_the_timeline_and_its_table(client, people, full):
    """Each rank with its four parts; uncovered communication is no second part of the whole."""
    full.artifacts.filter(name="trace_view.json").update(name=TRACE)  # as a job names it
    reading = traces(full).get()
    [rank] = timelines_of(reading)
    assert (rank.label, rank.stage) == ("rank 1", pytest.approx(41024.057 / 1000 + .7095 + 1.22475))
    assert rank.share("uncovered") == pytest.approx(0.01652, abs=1e-4)
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("assessments:model_performance", args=[full.pk])).content.decode()
    assert '<td class="desk-name">rank 1</td>' in page
    rows = {row["row"] for row in chart_spec(full, "timeline")["data"]["values"]}
    assert rows == {f"rank 1 · {part}" for part in (
        "Computing", "Communication", "Uncovered communication", "Free time")}
    assert "timeline" not in charts_of(full)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("name", list(CHARTS))
def test_the_same_picture_for_page_and_document(full, name, language):
    with override(language):
        spec = chart_spec(full, name)
        svg = chart_svg(full, name)
    json.dumps(spec, allow_nan=False)
    assert CLIP.sub("", svg) == CLIP.sub("", as_svg(spec))
    assert svg.startswith("<svg")


@pytest.mark.slow
def test_practice_stands_in_the_picture(full):
    full.measurements.update(is_practice=True)
    with override("en"):
        assert "practice data, not evidence" in chart_svg(full, "bars")


@pytest.mark.parametrize("name", list(CHARTS))
def test_no_chart_without_data(model, name):
    assert chart_spec(model, name) is None


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.CONSULTANT, Role.REVIEWER])
def test_the_pages(client, people, full, role):
    client.force_login(people[role])
    tab = client.get(reverse("assessments:performance", args=[full.engagement.code]))
    page = client.get(reverse("assessments:model_performance", args=[full.pk]))
    assert (tab.status_code, page.status_code) == (200, 200)
    assert reverse("assessments:model_performance", args=[full.pk]) in tab.content.decode()
    new = reverse("assessments:round_new", args=[full.pk])
    assert (new in page.content.decode()) == (role == Role.CONSULTANT)
    for name in CHARTS:
        assert client.get(reverse("assessments:performance_chart",
                                  args=[full.pk, name])).status_code == 200
        assert client.get(reverse("assessments:performance_picture",
                                  args=[full.pk, name])).status_code == 200
    assert client.get(reverse("assessments:performance_chart",
                              args=[full.pk, "nothing"])).status_code == 404


def test_strangers_find_nothing(client, stranger, full):
    client.force_login(stranger)
    for name, args in (("performance", [full.engagement.code]), ("model_performance", [full.pk]),
                       ("performance_chart", [full.pk, "bars"]),
                       ("performance_picture", [full.pk, "bars"]), ("round_new", [full.pk])):
        assert client.get(reverse(f"assessments:{name}", args=args)).status_code == 404
    for name in ("round_keep", "round_remove"):
        number = OptimisationRound.objects.last().pk
        assert client.post(reverse(f"assessments:{name}", args=[number])).status_code == 404


def test_queries_of_the_tab_do_not_grow(client, people, full, django_assert_num_queries):
    from engagements.services import add_model

    client.force_login(people[Role.REVIEWER])
    url = reverse("assessments:performance", args=[full.engagement.code])
    for n in range(3):
        with django_assert_num_queries(8):  # one of them for the rounds, one for the survey
            client.get(url)
        add_model(actor=people[Role.MANAGER], engagement=full.engagement, code=f"M{n}", name="m")


@pytest.mark.slow
def test_rounds_by_form(client, people, model, run):
    client.force_login(people[Role.CONSULTANT])
    url = reverse("assessments:round_new", args=[model.pk])
    client.post(url, {"artifact": run(500).pk})
    empty = client.post(url, {"area": "memory", "artifact": run(450).pk})
    client.post(url, {"area": "memory", "change": "内存复用", "finding": "碎片",
                      "upload": SimpleUploadedFile("b.log", log(400))})
    assert "changed" in str(empty.context["form"].errors)
    second = OptimisationRound.objects.get(number=1)
    assert (second.area, second.change, gains(model)[1]) == ("memory", "内存复用", (20.0, 20.0))
    client.post(reverse("assessments:round_keep", args=[second.pk]), {"kept": "no"})
    assert not OptimisationRound.objects.get(number=1).is_kept
    client.post(reverse("assessments:round_remove", args=[second.pk]))
    assert OptimisationRound.objects.count() == 1


def test_rounds_by_api(people, stranger, model, run):
    api = APIClient()
    api.force_authenticate(people[Role.CONSULTANT])
    for milliseconds in (500, 400):
        made = api.post("/api/v1/optimisation-rounds/", {
            "model": model.pk, "artifact": run(milliseconds).pk, "change": "x",
            "area": "parallel"})
    number = made.json()["id"]
    assert (made.status_code, made.json()["number"]) == (201, 1)
    refused = api.post("/api/v1/optimisation-rounds/", {
        "model": model.pk, "artifact": run(300).pk, "change": "x", "area": "start"})
    assert (refused.status_code, "只有首轮为起点" in str(refused.json())) == (400, True)
    shown = api.get(f"/api/v1/performance/{model.pk}/").json()
    cells = {c["metric"]: c for c in shown["rounds"][1]["cells"]}
    assert cells["iteration_time_ms"]["gain"] == pytest.approx(0.2)
    assert [b["metric"] for b in shown["bars"]] == ["samples_per_second", "iteration_time_ms"]
    reverted = api.post(f"/api/v1/optimisation-rounds/{number}/keep/", {"is_kept": False})
    assert reverted.json()["is_kept"] is False
    assert api.delete(f"/api/v1/optimisation-rounds/{number}/").status_code == 204
    api.force_authenticate(stranger)
    assert api.get(f"/api/v1/performance/{model.pk}/").status_code == 404
    assert api.get("/api/v1/optimisation-rounds/").json()["results"] == []


def test_rounds_fall_from_the_start_and_distant_figures_stand_on_a_logarithmic_scale(full):
    """A waterfall begins each round where the last kept one ended."""
    found = history(full)
    spec = chart_spec(full, "rounds")
    rows = [panel.get("data") or panel["layer"][0]["data"] for panel in spec["concat"]]
    first, second = rows[0].get("values") or spec["datasets"][rows[0]["name"]]
    assert (first["low"], first["kind"], second["low"], second["kind"]) == (
        0, "Start", first["value"], "Better")
    assert len(rows) == len(found.metrics)
    near = bars_of(full, found)[0]
    far = replace(near, target=near.after.value / 1000, criterion=None)
    assert "log" not in json.dumps(bars_spec([replace(near, target=near.after.value / 2)]))
    assert '"type": "log"' in json.dumps(bars_spec([far]))
