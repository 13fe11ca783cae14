"""A calculation that a reader can follow, definitions tried on samples, detail of long curves."""

from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from assessments import queries, services
from assessments.models import Baseline, Waiver
from assessments.presentation import calculation
from assessments.presentation.definition_preview import tried
from engagements.models import Role
from tests.assessments.conftest import curve, megatron_log
from tests.cached_fixtures import cached_fixture
from toolreaders.curves.alignment import align
from toolreaders.verdicts.calculation_steps import working
from toolreaders.verdicts.verdict import Rule, judge_curve, judge_values

GPU = np.linspace(4, 2, 200)


@pytest.fixture
@cached_fixture
def judged(criterion, people, model, store):
    """The criterion, judged on a curve that is 1 % high and 5 % high at step 51."""
    losses = GPU * 1.01
    losses[50] = GPU[50] * 1.05
    services.measure_file(actor=people[Role.CONSULTANT], model=model,
                          artifact=store("npu.log", megatron_log(losses), model))
    return criterion


@pytest.mark.parametrize(("pair", "figure", "percent"), [
    ("halves", "mean_relative_error", "3.00"), ("halves", "relative_error_of_means", "0.77"),
    ("halves", "signed_mean", "0.002"), ("spike", "max_relative_error", "36.00")])
def test_the_sample_pair_gives_the_published_figures(pair, figure, percent):
    _outcome, figures = tried(pair, Decimal("0.02"), Rule())
    digits = len(percent.partition(".")[2])
    assert f"{100 * figures[figure]:.{digits}f}" == percent


@pytest.mark.parametrize("figure", ["mean_relative_error", "mean_relative_error_from_step_21",
                                    "mean_relative_error_epsilon_added"])
def test_sum_and_count_give_the_figure(figure):
    rng = np.random.default_rng(5)
    aligned = align(curve(GPU), curve(GPU * rng.uniform(0.97, 1.03, 200)))
    found = judge_curve(aligned, Decimal("0.02"), Rule(figure=figure))
    known = found.facts["working"]
    assert known["sum_relative"] / known["points"] == pytest.approx(found.figure, rel=1e-12)
    assert known["worst"][0]["relative"] >= known["worst"][1]["relative"]
    assert known["first"][0]["step"] == (21 if figure.endswith("step_21") else 1)


def test_a_working_leaves_out_what_is_not_finite():
    losses = GPU.copy()
    losses[3] = np.nan
    known = working(align(curve(GPU), curve(losses)), "mean_relative_error", 0.0)
    assert (known["points"], known["sum_relative"]) == (199, 0.0)


def test_the_lines_end_in_the_figure_and_the_threshold(judged):
    with override("en"):
        lines = calculation.lines(judged, queries.newest_verdict(judged))
        rows = calculation.step_rows(queries.newest_verdict(judged))
    verdict = queries.newest_verdict(judged)
    assert lines[1].endswith(f"÷ 200 = {calculation.number(verdict.figure)}")
    assert lines[-1] == "1.020 % < 2 %, required: < 2 %"
    assert [row["step"] for row in rows][:4] == [1, 2, 3, 51]
    assert rows[3]["relative"].startswith("5.00")


def test_points_are_not_per_cent():
    rule = Rule(comparison="lt")
    for calculator, expected in (("points", "passed"), ("degradation", "failed")):
        found = judge_values(calculator, 0.39, 0.40, threshold=Decimal("0.02"), rule=rule)
        assert found.outcome == expected


def test_detail_of_a_stretch(client, judged, people, stranger):
    url = reverse("assessments:curve_range", args=[judged.pk])
    client.force_login(people[Role.REVIEWER])
    found = client.get(url, {"first": 40, "last": 60}).json()
    assert (found["points"], len(found["curves"]), len(found["errors"])) == (21, 42, 21)
    assert max(row["value"] for row in found["errors"]) == pytest.approx(0.05, rel=1e-3)
    assert client.get(url, {"first": "x", "last": "60"}).status_code == 400
    endpoint = f"/api/v1/criteria/{judged.pk}/curve/"
    assert client.get(endpoint, {"first": 40, "last": 60}).json() == found
    assert client.get(endpoint, {"first": "x"}).json()["errors"].keys() == {"first", "last"}
    client.force_login(stranger)
    assert client.get(url, {"first": 1, "last": 2}).status_code == 404
    assert client.get(endpoint, {"first": 1, "last": 2}).status_code == 404


def test_a_file_is_measured_by_the_api(client, criterion, people, model, store, stranger):
    url = f"/api/v1/criteria/{criterion.pk}/measure/"
    file = {"artifact": store("npu.log", megatron_log(GPU * 1.01), model).pk}
    for user, status in ((stranger, 404), (people[Role.REVIEWER], 403)):
        client.force_login(user)
        assert client.post(url, file).status_code == status
    client.force_login(people[Role.CONSULTANT])
    assert client.post(url, {"artifact": 0}).status_code == 400
    answer = client.post(url, file)
    assert (answer.status_code, [row["outcome"] for row in answer.json()]) == (201, ["passed"])


def test_the_verdict_page_shows_calculation_environment_and_runs(client, judged, people):
    Baseline.objects.filter(pk=judged.baseline_id).update(hardware="8 × A100")
    client.force_login(people[Role.MANAGER])
    with override("en"):
        page = client.get(reverse("assessments:criterion", args=[judged.pk]),
                          headers={"accept-language": "en"}).content.decode()
    assert "÷ 200" in page
    assert "8 × A100" in page


def test_pages_write_and_say_so(client, judged, people, store, model):
    client.force_login(people[Role.MANAGER])
    services.measure_file(actor=people[Role.CONSULTANT], model=model,
                          artifact=store("bad.log", megatron_log(GPU * 1.04), model))
    day = timezone.localdate() + timedelta(days=9)
    client.post(reverse("assessments:criterion_waive", args=[judged.pk]),
                {"reason": "agreed", "scope": "pilot", "expires_on": f"{day}"})
    waiver = Waiver.objects.get()
    page = client.get(reverse("assessments:criterion", args=[judged.pk])).content.decode()
    assert "agreed" in page
    client.post(reverse("assessments:waiver_revoke", args=[judged.pk, waiver.pk]))
    waiver.refresh_from_db()
    assert waiver.revoked_at is not None


def test_the_baseline_page_and_its_doors(client, baseline, people, store, model):
    url = reverse("assessments:baseline", args=[baseline.pk])
    client.force_login(people[Role.MANAGER])
    artifact = store("again.log", megatron_log(GPU * 1.001), model)
    client.post(reverse("assessments:baseline_run", args=[baseline.pk]),
                {"artifact": artifact.pk})
    assert "again.log" in client.get(url).content.decode()
    client.post(reverse("assessments:baseline_confirm", args=[baseline.pk]))
    client.force_login(people[Role.REVIEWER])
    client.post(reverse("assessments:baseline_confirm", args=[baseline.pk]))
    baseline.refresh_from_db()
    assert baseline.frozen_at is not None


def test_the_preview_is_a_page_and_a_part_of_it(client, people):
    client.force_login(people[Role.CONSULTANT])
    url = reverse("assessments:definition_preview")
    fields = {"pair": "halves", "figure": "relative_error_of_means", "comparison": "lt",
              "threshold": "2", "epsilon": "0"}
    whole = client.get(url, fields).content.decode()
    part = client.get(url, fields, headers={"hx-request": "true"}).content.decode()
    assert part in whole
    assert "0.77" in part
    wrong = client.get(url, {**fields, "threshold": "x"}, headers={"hx-request": "true"})
    assert wrong.status_code == 200


def test_the_api_signs_a_waiver_and_confirms_sheets(client, judged, people, store, model):
    services.measure_file(actor=people[Role.CONSULTANT], model=model,
                          artifact=store("bad.log", megatron_log(GPU * 1.04), model))
    data = {"criterion": judged.pk, "reason": "r", "scope": "s",
            "expires_on": f"{timezone.localdate()}"}
    client.force_login(people[Role.SALES])
    assert client.post("/api/v1/waivers/", data).status_code == 403
    client.force_login(people[Role.CONSULTANT])
    made = client.post("/api/v1/waivers/", data)
    assert made.status_code == 201
    assert client.post(f"/api/v1/waivers/{made.json()['id']}/sign/").status_code == 403
    client.force_login(people[Role.MANAGER])
    page = client.get(f"/criteria/{judged.pk}/")
    assert str(page.context["to_sign"].pk) == str(made.json()["id"])
    assert client.post(f"/api/v1/waivers/{made.json()['id']}/sign/").status_code == 200
    assert client.post(f"/api/v1/waivers/{made.json()['id']}/revoke/").status_code == 200
    again = store("again.log", megatron_log(GPU * 1.002), model)
    answer = client.post(f"/api/v1/baselines/{judged.baseline_id}/runs/", {"artifact": again.pk})
    assert (answer.status_code, answer.json()["is_remeasurement"]) == (201, True)
    assert client.post(f"/api/v1/baselines/{judged.baseline_id}/confirm/").status_code == 409
