"""Drafting, issuing and correcting documents, and what stands on their pages."""

import io
import json
from hashlib import sha256
from pathlib import Path

import pypdf
import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from delivery.documents.bilingual import in_language
from delivery.documents.models import CompanyProfile
from delivery.reports import services
from delivery.reports.facts.snapshot import content_hash
from delivery.reports.models import Document
from delivery.reports.rendering import render_document
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.document_steps import issued_document


@pytest.fixture
def short(monkeypatch):
    """Typesetting takes seconds; tests that do not read the pages go without."""
    monkeypatch.setattr("delivery.reports.rendering.render_document",
                        lambda *a, **k: b"%PDF-1.7 short")


def report(engagement, people):
    return issued_document(services.draft_test_report(
        actor=people[Role.MANAGER], engagement=engagement), people, is_checked=True)


@pytest.fixture
@cached_fixture
def issued(short, delivered, people) -> Document:
    return report(delivered, people)


def words(content: bytes) -> str:
    """All words of all pages without spaces; a watermark stands in the middle of the text."""
    pages = pypdf.PdfReader(io.BytesIO(content)).pages
    return "".join("".join(page.extract_text().split()) for page in pages)


def test_a_report_is_numbered_frozen_and_stored_twice(issued, delivered, people):
    document = issued
    day = document.snapshot["date"].replace("-", "")
    assert str(document) == f"TR-EP2501-{day}-001 V1.0"
    assert document.content_hash == content_hash(document.snapshot)
    assert [f.language for f in document.files.filter(format="pdf")] == ["en", "zh-hans"]
    stored = document.files.filter(format="pdf").first()
    assert stored.sha256 == sha256(b"%PDF-1.7 short").hexdigest()
    assert str(report(delivered, people)).endswith("-002 V1.0")


def test_the_metric_table_says_what_is_not_measured(issued):
    facts = in_language(issued.snapshot, "en")
    assert [(m["model"], m["outcome"]) for m in facts["metrics"]] == [
        ("LLM", "passed"), ("LLM", "passed"), ("PSR", "not_measured")]
    assert facts["conclusion"] == "not_provable"
    assert [i["model"] for i in facts["issues"]] == ["PSR"]


def test_all_runs_are_listed(issued):
    facts = issued.snapshot
    assert [(r["state"], r["is_judged"]) for r in facts["runs"]] == [
        ("failed", False), ("cancelled", False), ("succeeded", True)]
    assert facts["summary"]["card_hours"] == "19.20"  # 3 runs of 48 min on 8 cards


def test_both_sides_of_the_environment_are_compared(issued):
    tables = in_language(issued.snapshot, "en")["tables"]
    found = {(row[0], row[1]): row[2:] for row in tables["environments"]["rows"]}
    assert found["Driver", "LLM"] == ["535.129.03", "24.1.rc2", "differs"]
    assert found["PyTorch", "LLM"] == ["2.1.0", "2.1.0", "yes"]
    assert found["CANN", "LLM"] == ["not recorded", "8.0.RC2", "–"]


def test_an_issued_document_is_immutable(issued, people):
    for service in (services.issue_document, services.refresh_draft, services.discard_draft):
        with pytest.raises(WrongState):
            service(actor=people[Role.MANAGER], document=issued)


@pytest.mark.slow
def test_a_correction_is_a_new_version_that_names_the_old_one(issued, people):
    manager, first = people[Role.MANAGER], issued
    with pytest.raises(InvalidInput):
        services.draft_correction(actor=manager, document=first, reason=" ")
    draft = services.draft_correction(actor=manager, document=first, reason="客户名称更正")
    second = issued_document(draft, people)
    first.refresh_from_db()
    assert (second.number, second.version, first.state) == (first.number, 2, "superseded")
    assert second.snapshot["replaces"] == str(first)
    assert [row["version"] for row in second.snapshot["versions"]] == ["V1.0"]
    with pytest.raises(WrongState):
        services.draft_correction(actor=manager, document=first, reason="again")


@pytest.mark.slow
def test_a_replaced_version_says_so_wherever_it_is_shown(issued, people, client):
    manager, first = people[Role.MANAGER], issued
    second = issued_document(services.draft_correction(
        actor=manager, document=first, reason="客户名称更正"), people)
    client.force_login(people[Role.REVIEWER])
    page = client.get(f"/documents/{first.pk}/", headers={"accept-language": "en"})
    assert "A newer version replaces this document." in page.content.decode()
    assert f'href="/documents/{second.pk}/">Newer version: {second}' in page.content.decode()
    stored = first.files.get(language="en", format="pdf")
    sent = client.get(f"/documents/files/{stored.pk}/?download=1")
    assert f"{first.number}-V1.0-en-superseded.pdf" in sent["Content-Disposition"]
    shown = client.get(f"/api/v1/documents/{first.pk}/").json()
    assert shown["state"] == "superseded"
    assert {file["name"].rpartition("-")[2] for file in shown["files"]} == {
        "superseded.pdf", "superseded.xlsx"}
    assert client.get(f"/api/v1/documents/{second.pk}/").json()["replaces"] == first.pk


def test_a_number_is_used_once(issued, delivered, people):
    with pytest.raises(IntegrityError, match=r"UNIQUE|unique"):
        Document.objects.create(
            engagement=delivered, kind="TR", number=issued.number, version=1, state="issued",
            issued_at=issued.issued_at, created_by=people[Role.MANAGER])


def test_unsigned_criteria_and_a_missing_contract_stop_the_issuing(short, engagement, people):
    manager = people[Role.MANAGER]
    CompanyProfile.objects.create(name="交付公司")
    draft = services.draft_test_report(actor=manager, engagement=engagement)
    with pytest.raises(InvalidInput) as refused:
        services.issue_document(actor=manager, document=draft)
    assert len(refused.value.details["problems"]) == 3  # contract, models, criteria


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_verdict_without_its_raw_file_is_refused(short, delivered, people, damage):
    path = delivered.artifacts.get(name="train_npu.csv").file.path
    if damage == "changed":
        with open(path, "ab") as stream:
            stream.write(b"\n")
    else:
        Path(path).unlink()
    with pytest.raises(InvalidInput, match=r"train_npu\.csv"):
        report(delivered, people)


def test_who_drafts_and_who_sees(short, delivered, people, stranger, client):
    for role in (Role.CONSULTANT, Role.SALES, Role.REVIEWER, Role.OPERATOR):
        with pytest.raises(NotAllowed):
            services.draft_test_report(actor=people[role], engagement=delivered)
    draft = services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)
    status = {}
    for name, user in (("manager", people[Role.MANAGER]), ("reviewer", people[Role.REVIEWER]),
                       ("stranger", stranger)):
        client.force_login(user)
        status[name] = client.get(f"/documents/{draft.pk}/").status_code
    assert status == {"manager": 200, "reviewer": 404, "stranger": 404}


def test_pages_and_files(issued, people, stranger, client):
    document = issued
    stored = document.files.get(language="en", format="pdf")
    pages = ("/documents/", "/engagements/EP2501/documents/", f"/documents/{document.pk}/")
    client.force_login(people[Role.REVIEWER])
    for page in pages:
        assert document.number in client.get(page).content.decode()
    answer = client.get(f"/documents/files/{stored.pk}/?download=1")
    assert answer["Content-Type"] == "application/pdf"
    assert f"{document.number}-V1.0-en.pdf" in answer["Content-Disposition"]
    client.force_login(stranger)
    assert document.number not in client.get("/documents/").content.decode()
    assert [client.get(p).status_code for p in pages[1:]] == [404, 404]
    assert client.get(f"/documents/files/{stored.pk}/").status_code == 404


@pytest.mark.slow
def test_drafting_and_issuing_by_pages_and_api(short, delivered, people, client):
    client.force_login(people[Role.MANAGER])
    client.post("/engagements/EP2501/documents/draft/", {"kind": "FA"})
    draft = Document.objects.get()
    client.post(f"/documents/{draft.pk}/submit/")
    services.review_document(actor=people[Role.CONSULTANT], document=draft)
    client.force_login(people[Role.ADMINISTRATOR])
    client.post(f"/documents/{draft.pk}/issue/")
    fill_orders(draft)
    client.force_login(people[Role.MANAGER])
    draft.refresh_from_db()
    assert (draft.kind, draft.state) == ("FA", "issued")
    made = client.post("/api/v1/documents/", {"engagement": "EP2501", "kind": "TR"},
                       content_type="application/json")
    assert made.status_code == 201
    path = f"/api/v1/documents/{made.json()['id']}/"
    early = client.post(f"{path}issue/")
    assert (early.status_code, early.json()["title"]) == (409, "wrong_state")
    client.post(f"{path}submit/")
    client.force_login(people[Role.CONSULTANT])
    assert client.post(f"{path}review/").json()["state"] == "reviewed"
    client.force_login(people[Role.MANAGER])
    own = client.post(f"{path}issue/")
    assert (own.status_code, own.json()["title"]) == (403, "not_allowed")
    client.force_login(people[Role.ADMINISTRATOR])
    ordered = client.post(f"{path}issue/")
    assert (ordered.status_code, ordered.json()["state"]) == (202, "issuing")
    fill_orders(Document.objects.get(pk=made.json()["id"]))
    assert client.get(path).json()["state"] == "issued"
    again = client.post(f"{path}issue/")
    assert (again.status_code, again.json()["title"]) == (409, "wrong_state")


def fill_orders(document):
    """What the worker does."""
    for order in document.render_jobs.filter(state="pending"):
        assert services.take_render_job(order.pk)


@pytest.mark.slow
def test_the_pages_of_a_report(practised, people):
    manager = people[Role.MANAGER]
    document = services.draft_test_report(actor=manager, engagement=practised)
    facts = {**json.loads(json.dumps(document.snapshot)), "is_draft": False,
             "number": "TR-EP2501-20250625-001"}
    content = render_document(facts, "en")
    reader = pypdf.PdfReader(io.BytesIO(content))
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"]
    assert reader.trailer["/Root"]["/Lang"] == "en"
    claims = reader.trailer["/Root"]["/Metadata"].get_object().get_data().decode()
    assert 'pdfaid:part="2"' in claims
    assert 'pdfaid:conformance="A"' in claims
    assert "<pdfuaid:part>1</pdfuaid:part>" in claims
    for number, page in enumerate(reader.pages, 1):
        flat = "".join(page.extract_text().split())
        assert f"Page{number}of{len(reader.pages)}" in flat
        assert "PRACTICEDATA–NOTEVIDENCE" in flat
        assert "TR-EP2501-20250625-001V1.0" in flat
    text = words(content)
    assert [row["sha256"] in text for row in facts["evidence"]] == [
        bool(row["role"]) for row in facts["evidence"]]  # the annex file has the others
    assert content_hash(facts) in text
    assert "Nothinghasbeenmeasuredyet." in text


def test_genuine_data_bears_no_mark(delivered, people):
    draft = services.draft_acceptance(actor=people[Role.MANAGER], engagement=delivered)
    assert not draft.is_practice
    text = words(render_document(draft.snapshot, "zh-hans"))
    assert "演练" not in text
    assert "签字盖章" in text
    assert "巡检报告生成大模型" in text
    assert str(people[Role.REVIEWER]) in text  # who confirmed the criteria with his account


@pytest.mark.slow
def test_lists_take_as_many_queries_for_many_documents_as_for_one(
        short, delivered, people, client):
    client.force_login(people[Role.MANAGER])
    pages = ("/documents/", "/engagements/EP2501/documents/", "/api/v1/documents/")

    def counts() -> list[int]:
        found = []
        for page in pages:
            client.get(page)
            with CaptureQueriesContext(connection) as queries:
                assert client.get(page).status_code == 200
            found.append(len(queries))
        return found

    report(delivered, people)
    one = counts()
    for _n in range(2):
        report(delivered, people)
    assert counts() == one


@pytest.mark.slow
def test_the_cover_of_a_withdrawn_practice_paper_is_one_page(practised, people):
    """Two banners leave room for the content hash and the code that leads to the check."""
    draft = services.draft_document(actor=people[Role.MANAGER], engagement=practised, kind="AC")
    facts = {**draft.snapshot, "number": "AC-EP2501-20250625-001", "is_draft": False}
    pages = pypdf.PdfReader(io.BytesIO(render_document(facts, "en", is_withdrawn=True))).pages
    assert "WITHDRAWN" in pages[0].extract_text()
    assert "Sign-off and history" in pages[1].extract_text()
