"""Test reports of accredited laboratories: checked, listed in documents, in the bundle (AR-20)."""

from datetime import date, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from django.utils.translation import override

from delivery.acceptance import services
from delivery.acceptance.models import ThirdPartyReport
from delivery.documents.bilingual import in_language
from delivery.documents.pdf import html_of
from delivery.reports import services as reporting
from delivery.reports.issue_checks.checks import problems_of
from delivery.reports.rendering import TEMPLATE, context_of
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role
from tests.delivery.review_steps import SHORT

GIVEN = {"laboratory": "国家软件测试中心（演练）", "cnas_number": "CNAS L1234",
         "cma_number": "2200 2034 9123", "report_number": "NT-2025-0815",
         "issued_on": date(2025, 8, 15), "scope": "LLM：损失曲线平均相对误差"}


def attach(people, engagement, role=Role.CONSULTANT, **given):
    return services.attach_third_party_report(**{
        "actor": people[role], "engagement": engagement,
        "file": SimpleUploadedFile("检测报告.pdf", SHORT), **GIVEN, **given})


def sentences(document) -> list[str]:
    with override("en"):
        return [problem.sentence for problem in problems_of(document)]


@pytest.mark.parametrize("wrong", [
    {"laboratory": " "}, {"scope": ""}, {"report_number": ""},
    {"cnas_number": "", "cma_number": ""}, {"cnas_number": "CNAS", "cma_number": " "},
    {"issued_on": timezone.localdate() + timedelta(days=2)},
    {"file": SimpleUploadedFile("x.pdf", b"MZ no report")}, {"file": None}], ids=str)
def test_what_no_laboratory_would_send_is_refused(engagement, people, wrong):
    with pytest.raises(InvalidInput):
        attach(people, engagement, **wrong)
    assert not ThirdPartyReport.objects.exists()
    assert not engagement.artifacts.exists()


@pytest.mark.slow
def test_papers_list_it_and_a_changed_file_stops_them(delivered, people):
    manager = people[Role.MANAGER]
    services.set_terms(actor=manager, engagement=delivered, needs_third_party=True)
    draft = reporting.draft_acceptance(actor=manager, engagement=delivered)
    assert sentences(draft) == ["The contract requires a test report of an accredited laboratory; "
                                "none is attached."]
    with pytest.raises(NotAllowed):
        attach(people, delivered, role=Role.REVIEWER)
    report = attach(people, delivered)
    with pytest.raises(InvalidInput):
        attach(people, delivered)
    assert (report.cnas_number, report.cma_number) == ("L1234", "220020349123")
    assert any("Third-party test reports" in sentence for sentence in sentences(draft))
    draft = reporting.refresh_draft(actor=manager, document=draft)
    assert sentences(draft) == []
    facts = in_language(draft.snapshot, "en")
    assert facts["tables"]["third_party"]["rows"] == [[
        f"E{report.artifact_id}", GIVEN["laboratory"], "CNAS L1234\nCMA 220020349123",
        "NT-2025-0815", "2025-08-15", GIVEN["scope"], report.artifact.sha256]]
    assert [row["id"] for row in facts["evidence"] if row["role"] == "third_party"] == [
        report.artifact_id]
    page = html_of(TEMPLATE, context_of(draft.snapshot, "en"), "en")
    assert "NT-2025-0815" in page
    assert "Third-party test reports" in page

    report.artifact.file.storage.delete(report.artifact.file.name)
    report.artifact.file.storage.save(report.artifact.file.name, SimpleUploadedFile("x", b"x"))
    assert any("NT-2025-0815: its file is missing or was changed" in sentence
               for sentence in sentences(draft))
    services.withdraw_third_party_report(actor=manager, report=report, reason="报告被替换")
    assert "The contract requires a test report" in " ".join(sentences(draft))
    assert [entry.action for entry in AuditEntry.objects.filter(
        action__startswith="third_party").order_by("pk")] == [
            "third_party.attach", "third_party.withdraw"]


def test_page_and_api(delivered, people, client):
    page = f"/engagements/{delivered.code}/third-party-reports/"
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people[Role.CONSULTANT])
    sent = {**GIVEN, "file": SimpleUploadedFile("检测报告.pdf", SHORT)}
    refused = client.post(page, {**sent, "cnas_number": "CNAS", "cma_number": ""})
    assert refused.status_code == 400
    assert "a report without accreditation" in refused.content.decode()
    sent["file"] = SimpleUploadedFile("r.pdf", SHORT)
    assert client.post(page, sent).status_code == 302
    report = ThirdPartyReport.objects.get()
    assert client.post(f"/third-party-reports/{report.pk}/withdraw/", {"reason": "x"}
                       ).status_code == 302
    report.refresh_from_db()
    assert report.withdrawn_at is None  # only who manages the engagement
    client.force_login(people[Role.REVIEWER])
    shown = client.get(page).content.decode()
    assert "CNAS L1234" in shown
    assert "part of the evidence" in shown
    assert "Attach a report" not in shown
    [listed] = client.get("/api/v1/third-party-reports/").json()["results"]
    assert (listed["report_number"], listed["sha256"]) == ("NT-2025-0815", report.artifact.sha256)
    client.force_login(people[Role.MANAGER])
    path = f"/api/v1/third-party-reports/{report.pk}/withdraw/"
    answer = client.post(path, {"reason": "重新检测"}, content_type="application/json")
    assert (answer.status_code, answer.json()["withdrawal"]) == (200, "重新检测")
    made = client.post("/api/v1/third-party-reports/", {
        **GIVEN, "engagement": delivered.code, "file": SimpleUploadedFile("r.pdf", SHORT)})
    assert made.status_code == 201


@pytest.mark.parametrize(("typed", "stored"), [
    ({"cnas_number": "L12345"}, ("L12345", "")), ({"cnas_number": "IB0123"}, ("IB0123", "")),
    ({"cnas_number": "", "cma_number": "CMA 2200 2034 9123-A"}, ("", "220020349123-A"))])
def test_numbers_are_kept_as_the_laboratory_writes_them(engagement, people, typed, stored):
    """Who numbers laboratories how is nothing that the product knows."""
    report = attach(people, engagement, **{"cma_number": "", **typed})
    assert (report.cnas_number, report.cma_number) == stored
