"""Pages and REST endpoints: who sees what, and that a form does what the service does."""

import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from assessments import services
from assessments.models import Baseline, CriteriaSet, Criterion, Verdict
from engagements.models import Role
from tests.assessments.conftest import megatron_log
from tests.cached_fixtures import cached_fixture
from workers.models import Job

GPU = np.linspace(4, 2, 200)


@pytest.fixture
def as_role(client, people):
    def log_in(role):
        client.force_login(people[role])
        return client
    return log_in


@pytest.fixture
@cached_fixture
def verdict(people, criterion, model, store):
    verdict, = services.measure_file(
        actor=people[Role.CONSULTANT], model=model,
        artifact=store("npu.log", megatron_log(GPU * 1.01), model))
    return verdict


def pages(criterion) -> dict[str, str]:
    code = criterion.criteria_set.engagement.code
    return {
        "criteria": reverse("assessments:criteria", args=[code]),
        "criterion": reverse("assessments:criterion", args=[criterion.pk]),
        "curve_spec": reverse("assessments:curve_spec", args=[criterion.pk]),
        "curve_svg": reverse("assessments:curve_svg", args=[criterion.pk]),
    }


@pytest.mark.parametrize("page", ["criteria", "criterion", "curve_spec", "curve_svg"])
@pytest.mark.parametrize("role", [Role.MANAGER, Role.REVIEWER])
def test_members_see_the_pages(as_role, criterion, verdict, role, page):
    assert as_role(role).get(pages(criterion)[page]).status_code == 200


@pytest.mark.parametrize("page", ["criteria", "criterion", "curve_spec", "curve_svg"])
def test_strangers_find_nothing(client, stranger, criterion, verdict, page):
    client.force_login(stranger)
    assert client.get(pages(criterion)[page]).status_code == 404


def test_the_criterion_page_leads_to_every_fact(as_role, criterion, verdict):
    text = as_role(Role.REVIEWER).get(pages(criterion)["criterion"]).content.decode()
    for fact in (criterion.baseline.artifact.sha256, verdict.measurement.artifact.sha256,
                 criterion.definition.code, "1.00", pages(criterion)["curve_spec"]):
        assert fact in text
    assert "criterion_judge" not in text
    assert reverse("assessments:criterion_judge", args=[criterion.pk]) not in text


def test_the_criterion_page_names_alignment_rates_and_differences(as_role, criterion, people, model,
                                                                  store):
    services.measure_file(
        actor=people[Role.CONSULTANT], model=model,
        artifact=store("npu.log", megatron_log(GPU * 5), model))
    page = as_role(Role.REVIEWER).get(pages(criterion)["criterion"],
                                      headers={"accept-language": "en"}).content.decode()
    for text in ("Records aligned by", "step number", "0 of 200 common records differ",
                 "5.000 times the baseline", "sums the loss over 5 accumulation steps"):
        assert text in page


def test_the_job_page_shows_the_curve_that_its_log_was_judged_by(as_role, criterion, verdict,
                                                                 people, node):
    job = Job.objects.create(
        kind="adapt.megatron_train", state="succeeded", model=criterion.model, node=node,
        finished_at=timezone.now(),
        engagement=criterion.model.engagement, created_by=people[Role.CONSULTANT])
    verdict.measurement.job = job
    verdict.measurement.save()
    page = as_role(Role.REVIEWER).get(reverse("workers:job", args=[job.pk])).content.decode()
    assert f'data-chart-url="{pages(criterion)["curve_spec"]}"' in page
    assert pages(criterion)["criterion"] in page


def test_practice_is_marked(as_role, criterion, verdict):
    Verdict.objects.update(is_practice=True)
    for page in ("criteria", "criterion"):
        text = as_role(Role.REVIEWER).get(pages(criterion)[page]).content.decode()
        assert "desk-practice" in text


def test_the_curve_is_a_vega_lite_specification(as_role, criterion, verdict):
    spec = json.loads(as_role(Role.REVIEWER).get(pages(criterion)["curve_spec"]).content)
    assert "vega-lite" in spec["$schema"]
    assert len(spec["vconcat"]) == 2


def test_no_curve_before_a_measurement(as_role, criterion):
    assert as_role(Role.MANAGER).get(pages(criterion)["curve_spec"]).status_code == 404
    assert as_role(Role.MANAGER).get(pages(criterion)["criterion"]).status_code == 200


@pytest.mark.slow
def test_from_draft_to_signature_by_forms(as_role, engagement, model, definitions, store):
    client = as_role(Role.MANAGER)
    code = engagement.code
    client.post(reverse("assessments:criteria_draft", args=[code]))
    client.post(reverse("assessments:baseline_new", args=[code]), {
        "model": model.pk, "quantity": "loss_curve", "source": "GPU cluster",
        "origin": "measured",
        "environment": "cards = 8 × A100\nseed = 1234",
        "upload": SimpleUploadedFile("gpu.log", megatron_log(GPU))})
    baseline = Baseline.objects.get()
    assert baseline.environment == {"cards": "8 × A100", "seed": "1234"}
    client.post(reverse("assessments:criterion_new", args=[code]), {
        "model": model.pk, "stage": "train_tune", "threshold": "2", "baseline": baseline.pk,
        "definition": definitions["loss_mean_relative_error"].pk})
    for factor in (1.001, 0.999):
        client.post(reverse("assessments:baseline_run", args=[baseline.pk]), {
            "upload": SimpleUploadedFile("gpu.log", megatron_log(GPU * factor))})
    row = Criterion.objects.get()
    assert f"{row.threshold.normalize()}" == "0.02"
    as_role(Role.ADMINISTRATOR).post(reverse("assessments:criteria_sign", args=[code]),
                {"customer_signatory": "陈国栋 主任",
                 "signed_sheet": SimpleUploadedFile("criteria.pdf", b"%PDF-1.7 signed")})
    assert CriteriaSet.objects.get().state == "signed"
    client.post(reverse("assessments:criterion_measure", args=[row.pk]), {
        "upload": SimpleUploadedFile("npu.log", megatron_log(GPU * 1.01))})
    assert Verdict.objects.get().outcome == "passed"
    client.post(reverse("assessments:criteria_judge", args=[code]))
    client.post(reverse("assessments:criterion_judge", args=[row.pk]))
    assert Verdict.objects.count() == 3


def test_a_form_says_what_is_wrong(as_role, engagement, model, definitions):
    answer = as_role(Role.MANAGER).post(
        reverse("assessments:baseline_new", args=[engagement.code]),
        {"model": model.pk, "quantity": "loss_curve", "origin": "measured",
         "upload": SimpleUploadedFile("notes.txt", b"hello\n")})
    assert answer.status_code == 200
    assert "训练损失" in " ".join(answer.context["form"].non_field_errors())


@pytest.mark.parametrize(("route", "role"), [
    ("criterion_judge", Role.REVIEWER), ("criterion_judge", Role.SALES)])
def test_who_may_not_compute(as_role, criterion, route, role):
    answer = as_role(role).post(reverse(f"assessments:{route}", args=[criterion.pk]))
    assert answer.status_code == 403
    assert not Verdict.objects.exists()


@pytest.mark.slow
def test_reading_a_page_writes_nothing(as_role, criterion, verdict):
    before = Verdict.objects.count()
    for url in pages(criterion).values():
        as_role(Role.MANAGER).get(url)
    assert Verdict.objects.count() == before


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_definitions_in_both_languages(as_role, definitions, language):
    client = as_role(Role.CONSULTANT)
    row = definitions["loss_flagperf"]
    for url in (reverse("assessments:definitions"),
                reverse("assessments:definition", args=[row.pk])):
        text = client.get(url, headers={"accept-language": language}).content.decode()
        assert (row.name_en if language == "en" else row.name) in text


def test_the_api_shows_verdicts_of_visible_engagements_only(people, stranger, criterion, verdict):
    client = APIClient()
    client.force_authenticate(people[Role.REVIEWER])
    shown = client.get("/api/v1/verdicts/").json()["results"]
    assert [(row["outcome"], row["id"]) for row in shown] == [("passed", verdict.pk)]
    assert client.post("/api/v1/verdicts/", {"outcome": "passed"}).status_code == 405
    client.force_authenticate(stranger)
    assert client.get("/api/v1/verdicts/").json()["results"] == []
    assert client.get(f"/api/v1/criteria/{criterion.pk}/").status_code == 404


def test_the_api_judges(people, criterion, verdict):
    client = APIClient()
    client.force_authenticate(people[Role.CONSULTANT])
    answer = client.post(f"/api/v1/criteria/{criterion.pk}/judge/")
    assert (answer.status_code, answer.json()["outcome"]) == (201, "passed")
    client.force_authenticate(people[Role.REVIEWER])
    assert client.post(f"/api/v1/criteria/{criterion.pk}/judge/").status_code == 403


def test_the_api_refuses_to_change_what_is_signed(people, criterion):
    client = APIClient()
    client.force_authenticate(people[Role.MANAGER])
    assert client.delete(f"/api/v1/criteria/{criterion.pk}/").status_code == 409
    assert client.patch(f"/api/v1/criteria/{criterion.pk}/",
                        {"threshold": 1}).status_code == 405
