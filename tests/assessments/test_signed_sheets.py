"""Who signs for the customer, and what a baseline needs before it is signed."""

from decimal import Decimal

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.translation import override

from assessments import queries, services
from assessments.models import BaselineRun, Confirmation, CriteriaSet, Criterion
from assessments.presentation.verdict_rows import warnings
from assessments.services import baselines
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Engagement, Role
from tests.assessments.conftest import megatron_log, signed
from workers.models import Job, Node

PDF = b"%PDF-1.7 signed"
GPU = np.linspace(4, 2, 200)


@pytest.fixture(autouse=True)
def _english():
    with override("en"):
        yield


@pytest.fixture
def signer(people):
    """Not the author of the draft."""
    return people[Role.ADMINISTRATOR]


@pytest.fixture
def ready(people, draft, model, definitions, baseline):
    """A draft with one criterion, which nobody has confirmed."""
    services.add_criterion(
        actor=people[Role.MANAGER], criteria_set=draft, model=model, stage="train_tune",
        definition=definitions["loss_mean_relative_error"], threshold=Decimal("0.02"),
        baseline=baseline)
    return draft


def test_a_typed_name_is_no_signature(signer, ready):
    with pytest.raises(InvalidInput, match="A typed name is not a signature"):
        services.sign_criteria(actor=signer, criteria_set=ready, customer_signatory="陈国栋")
    with pytest.raises(InvalidInput, match="The customer has not signed"):
        services.sign_criteria(actor=signer, criteria_set=ready)
    ready.refresh_from_db()
    assert (ready.state, Confirmation.objects.count()) == ("draft", 0)


def test_the_customer_signs_with_his_own_account(people, ready):
    found = signed(people, ready)
    assert queries.customers_signature(found) == found.customer_signatory == "Reviewer"


def test_a_scan_signs_with_who_entered_it(signer, ready, store):
    scan = store("criteria.pdf", PDF)
    found = services.sign_criteria(actor=signer, criteria_set=ready, signed_sheet=scan,
                                   customer_signatory=" 陈国栋 主任 ")
    assert found.customer_signatory == "陈国栋 主任"
    assert queries.customers_signature(found) == (
        f"陈国栋 主任 (signed sheet #{scan.pk}, entered by Administrator)")
    entry = AuditEntry.objects.get(action="criteria.sign")
    assert entry.data["scan"] == scan.sha256


def test_a_name_from_an_earlier_release_is_printed_as_entered(people, ready, signer):
    found = signed(people, ready)
    Confirmation.objects.all().delete()
    CriteriaSet.objects.update(customer_signatory="陈国栋")
    found.refresh_from_db()
    assert queries.customers_signature(found) == (
        "陈国栋 (entered by Administrator; no signature is on file)")
    CriteriaSet.objects.update(customer_signatory="")
    found.refresh_from_db()
    assert queries.customers_signature(found) == ""


@pytest.mark.parametrize(("content", "name", "sentence"), [
    (PDF, " ", "Enter who signed"), (b"hello", "陈国栋", "PDF, PNG or JPEG"),
    (b"", "陈国栋", "PDF, PNG or JPEG")])
def test_what_is_no_signed_sheet(signer, ready, store, content, name, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        services.sign_criteria(actor=signer, criteria_set=ready, customer_signatory=name,
                               signed_sheet=store("criteria.pdf", content))


def test_a_scan_of_another_engagement_is_refused(signer, ready, store, engagement):
    scan = store("criteria.pdf", PDF)
    scan.engagement = Engagement.objects.create(code="EP2502", customer=engagement.customer)
    scan.save()
    with pytest.raises(InvalidInput, match="another engagement"):
        services.sign_criteria(actor=signer, criteria_set=ready, customer_signatory="陈国栋",
                               signed_sheet=scan)


@pytest.mark.parametrize("role", [Role.CONSULTANT, Role.REVIEWER])
def test_only_a_manager_enters_a_signed_sheet(people, baseline, store, role):
    with pytest.raises(NotAllowed):
        baselines.confirm_baseline(actor=people[role], baseline=baseline,
                                   customer_signatory="陈国栋",
                                   signed_sheet=store("baseline.pdf", PDF))


def test_a_baseline_is_frozen_by_a_scan_and_the_manager(signer, baseline, store):
    found = baselines.confirm_baseline(actor=signer, baseline=baseline)
    assert found.frozen_at is None
    found = baselines.confirm_baseline(actor=signer, baseline=baseline,
                                       customer_signatory="陈国栋",
                                       signed_sheet=store("baseline.png", b"\x89PNG\r\n\x1a\n"))
    assert found.frozen_at is not None
    assert [(row.side, row.confirmed_by, row.signatory) for row in found.confirmations.all()] == [
        ("firm", signer, ""), ("customer", signer, "陈国栋")]


def test_the_database_knows_no_name_without_a_scan(signer, baseline, store):
    scan = store("baseline.pdf", PDF)
    for fields in ({"signatory": "陈国栋"}, {"scan": scan},
                   {"scan": scan, "signatory": "陈国栋", "side": "firm"}):
        with pytest.raises(IntegrityError, match="scan_names_the_customers_signatory"), \
                transaction.atomic():
            Confirmation.objects.create(**{"side": "customer", "baseline": baseline,
                                           "content_hash": "0", "confirmed_by": signer, **fields})


@pytest.mark.parametrize("runs", [1, 2])
def test_fewer_than_three_runs_are_not_signed(people, ready, baseline, signer, store, runs):
    for run in baseline.runs.all()[runs - 1:]:
        BaselineRun.objects.filter(pk=run.pk).delete()
    sentence = f"rests on {runs} run.*three runs or more"
    with pytest.raises(InvalidInput, match=sentence):
        baselines.confirm_baseline(actor=signer, baseline=baseline)
    with pytest.raises(InvalidInput, match=sentence):
        services.confirm_criteria(actor=people[Role.REVIEWER], criteria_set=ready)
    with pytest.raises(InvalidInput, match=sentence):
        services.sign_criteria(actor=signer, criteria_set=ready, customer_signatory="陈国栋",
                               signed_sheet=store("criteria.pdf", PDF))
    baseline.refresh_from_db()
    assert (baseline.frozen_at, Confirmation.objects.count()) == (None, 0)


def test_a_baseline_that_both_sides_froze_before_stays_agreed(people, ready, baseline):
    signed(people, ready)
    baseline.runs.all().delete()
    new = services.draft_criteria(actor=people[Role.MANAGER], engagement=ready.engagement)
    assert signed(people, new).state == "signed"


def test_a_verdict_on_a_baseline_of_one_run_says_so(people, ready, baseline, signer, store):
    """Frozen by an earlier release, which took one run."""
    signed(people, ready)
    criterion = Criterion.objects.get()
    artifact = store("npu.log", megatron_log(GPU * 1.001), criterion.model)
    [verdict] = services.measure_file(actor=signer, model=criterion.model, artifact=artifact)
    assert verdict.facts["warnings"] == []
    baseline.runs.all().delete()
    verdict = services.judge_criterion(criterion)
    assert (verdict.outcome, [w["message"] for w in verdict.facts["warnings"]]) == (
        "passed", ["The baseline rests on 1 of the 3 runs that show it can be repeated."])
    assert warnings(verdict)[0]["text"].startswith("The baseline rests on fewer than three runs")


def test_a_remeasurement_is_no_run_of_the_baseline(people, ready, baseline):
    BaselineRun.objects.filter(pk=baseline.runs.first().pk).update(is_remeasurement=True)
    with pytest.raises(InvalidInput, match="rests on 2 runs"):
        services.confirm_criteria(actor=people[Role.REVIEWER], criteria_set=ready)


@pytest.fixture
def job_file(store, model, engagement):
    """Stores files of one job, or of several."""
    node = Node.objects.create(name="n", host="h", username="u", cards_total=8)

    def put(name, factor, job=None):
        artifact = store(name, megatron_log(GPU * factor), model)
        artifact.job = job or Job.objects.create(kind="adapt.megatron_train", model=model,
                                                 node=node, engagement=engagement,
                                                 results={"device": "npu 0"})
        artifact.save()
        return artifact
    return put


def test_two_files_of_one_job_are_one_run_of_a_baseline(people, baseline, job_file, store, model):
    consultant = people[Role.CONSULTANT]
    first = job_file("a.log", 1.001)
    baselines.add_run(actor=consultant, baseline=baseline, artifact=first)
    for other in (job_file("b.log", 1.002, job=first.job),
                  store("again.log", megatron_log(GPU * 1.001), model)):
        with pytest.raises(InvalidInput, match="already been recorded"):
            baselines.add_run(actor=consultant, baseline=baseline, artifact=other)
    assert queries.recorded_runs(baseline) == 4
    BaselineRun.objects.create(baseline=baseline, value=0, recorded_by=consultant,
                               artifact=job_file("c.log", 1.003, job=first.job))
    assert queries.recorded_runs(baseline) == 4


@pytest.mark.slow
def test_two_files_of_one_job_are_one_measured_run(client, people, criterion, job_file, signer):
    """The page counts as the verdict does, which documents print."""
    first = job_file("a.log", 1.001)
    for artifact in (first, job_file("b.log", 1.001, job=first.job)):
        services.measure_file(actor=signer, model=criterion.model, artifact=artifact)
    client.force_login(signer)
    page = client.get(reverse("assessments:criterion", args=[criterion.pk]))
    assert len(page.context["all_runs"]) == len(page.context["verdict"].facts["runs"]) == 1
    services.measure_file(actor=signer, model=criterion.model, artifact=job_file("c.log", 1.002))
    page = client.get(reverse("assessments:criterion", args=[criterion.pk]))
    assert len(page.context["all_runs"]) == 2


@pytest.mark.slow
def test_a_rule_over_several_runs_wants_several_jobs(people, criterion, job_file, signer):
    type(criterion.definition).objects.filter(pk=criterion.definition_id).update(
        selection="worst", runs=2)
    first = job_file("a.log", 1.001)
    for artifact in (first, job_file("b.log", 1.002, job=first.job)):
        verdict, = services.measure_file(actor=signer, model=criterion.model, artifact=artifact)
    assert verdict.reason == "too_few_runs"


def test_pages_take_the_signed_sheet(client, signer, ready, baseline):
    client.force_login(signer)
    page = reverse("assessments:baseline", args=[baseline.pk])
    sign = reverse("assessments:criteria_sign", args=[ready.engagement.code])
    client.post(sign, {"customer_signatory": "陈国栋"})
    ready.refresh_from_db()
    assert ready.state == "draft"
    for url in (reverse("assessments:baseline_confirm", args=[baseline.pk]), sign):
        client.post(url, {"customer_signatory": "陈国栋",
                          "signed_sheet": SimpleUploadedFile("sheet.pdf", PDF)})
    assert "signed sheet #" in client.get(
        page, headers={"accept-language": "en"}).content.decode()
    found = client.get(reverse("assessments:criteria", args=[ready.engagement.code]),
                       headers={"accept-language": "en"}).content.decode()
    assert "陈国栋 (signed sheet #" in found


def test_the_api_takes_the_signed_sheet(client, signer, people, ready, baseline, store, stranger):
    scan = store("sheet.pdf", PDF)
    client.force_login(signer)
    confirm, sign = (f"/api/v1/baselines/{baseline.pk}/confirm/",
                     f"/api/v1/criteria-sets/{ready.pk}/sign/")
    assert client.post(confirm).status_code == 200
    assert client.post(sign, {"customer_signatory": "陈国栋"}).status_code == 400
    assert client.post(sign, {"signed_sheet": 0}).status_code == 400
    body = {"customer_signatory": "陈国栋", "signed_sheet": scan.pk}
    assert client.post(confirm, body).json()["frozen_at"]
    answer = client.post(sign, body, headers={"accept-language": "en"}).json()
    assert answer["customer_signature"].startswith("陈国栋 (signed sheet #")
