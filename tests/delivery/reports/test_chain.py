"""The approval chain: written, reviewed by somebody else, approved, issued, withdrawn."""

import io
from datetime import timedelta

import pytest
from django.utils import timezone
from openpyxl import load_workbook

from delivery.reports import services
from delivery.reports.models import Document
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Engagement, Role, User
from tests.cached_fixtures import cached_fixture
from tests.document_steps import issued_document, reviewed_document

PDF = b"%PDF-1.7 short"


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr("delivery.reports.rendering.render_document", lambda *a, **k: PDF)


@pytest.fixture
@cached_fixture
def draft(delivered, people) -> Document:
    return services.draft_document(
        actor=people[Role.MANAGER], engagement=delivered, kind="AC")


def test_nobody_reviews_what_cannot_be_issued(draft, people):
    Engagement.objects.filter(pk=draft.engagement_id).update(contract_number="")
    with pytest.raises(InvalidInput) as refused:
        services.submit_document(actor=people[Role.MANAGER], document=Document.objects.get(
            pk=draft.pk))
    assert len(refused.value.details["cures"]) == len(refused.value.details["problems"]) >= 1
    assert Document.objects.get(pk=draft.pk).state == "draft"


def test_an_author_never_reviews(draft, people):
    services.submit_document(actor=people[Role.MANAGER], document=draft)
    with pytest.raises(NotAllowed):
        services.review_document(actor=people[Role.MANAGER], document=draft)


def test_whoever_submitted_does_not_review_either(draft, people):
    services.submit_document(actor=people[Role.ADMINISTRATOR], document=draft)
    with pytest.raises(NotAllowed):
        services.review_document(actor=people[Role.ADMINISTRATOR], document=draft)


def test_a_reviewer_does_not_approve(draft, people):
    services.submit_document(actor=people[Role.MANAGER], document=draft)
    services.review_document(actor=people[Role.ADMINISTRATOR], document=draft)
    with pytest.raises(NotAllowed):
        services.order_issue(actor=people[Role.ADMINISTRATOR], document=draft)


def test_sent_back_with_a_reason_the_chain_starts_anew(draft, people):
    document = reviewed_document(draft, people)
    with pytest.raises(InvalidInput):
        services.send_back_document(actor=people[Role.MANAGER], document=document, reason=" ")
    back = services.send_back_document(actor=people[Role.MANAGER], document=document,
                                       reason="图 1 缺少说明")
    assert (back.state, back.reviewed_by, back.submitted_at) == ("draft", None, None)
    assert [(s.action, s.comment) for s in back.steps.all()][-1] == ("send_back", "图 1 缺少说明")
    with pytest.raises(WrongState):
        services.order_issue(actor=people[Role.MANAGER], document=back)


def test_what_was_reviewed_is_what_is_issued(draft, people, delivered):
    document = reviewed_document(draft, people)
    delivered.description = "改后的描述"
    delivered.save()
    frozen = services.issue_document(actor=people[Role.ADMINISTRATOR], document=document)
    assert frozen.snapshot["engagement"] == document.snapshot["engagement"]
    assert frozen.snapshot["reviewed_by"]["name"]["en"] == "Consultant"
    assert frozen.snapshot["approved_by"]["name"]["en"] == "Administrator"


def test_every_step_is_in_the_audit_log(draft, people):
    issued_document(draft, people)
    assert list(AuditEntry.objects.filter(action__startswith="document.").order_by("pk")
                .values_list("action", flat=True)) == [
        "document.draft", "document.submit", "document.review", "document.approve",
        *["document.file"] * 4, "document.issue"]  # report and annex in each language


@pytest.mark.slow
def test_a_withdrawn_version_stays_readable_and_is_marked(draft, people, client):
    document = issued_document(draft, people)
    with pytest.raises(InvalidInput):
        services.withdraw_document(actor=people[Role.MANAGER], document=document, reason="")
    services.withdraw_document(actor=people[Role.MANAGER], document=document, reason="测错节点")
    for order in document.render_jobs.filter(state="pending"):
        services.take_render_job(order.pk)
    document.refresh_from_db()
    assert document.state == "withdrawn"
    assert sorted(f.format for f in document.files.filter(language="en")) == [
        "pdf", "withdrawn", "withdrawn-xlsx", "xlsx"]
    client.force_login(people[Role.REVIEWER])
    page = client.get(f"/documents/{document.pk}/", headers={"accept-language": "en"})
    assert "This document was withdrawn" in page.content.decode()
    stored = document.files.get(language="en", format="pdf")
    sent = client.get(f"/documents/files/{stored.pk}/")
    assert b"".join(sent.streaming_content) == PDF
    assert "-V1.0-en-withdrawn.pdf" in sent["Content-Disposition"]
    assert document.files.get(language="en", format="withdrawn").served_name.endswith(
        "-V1.0-withdrawn-en.pdf")
    correction = services.draft_correction(actor=people[Role.MANAGER], document=document,
                                           reason="重新测量")
    assert correction.replaces == document


@pytest.mark.slow
def test_office_files_of_a_withdrawn_document_keep_their_bytes_beside_marked_copies(
        delivered, people, client):
    """Their checksums were issued: what is downloaded again is what was issued."""
    draft = services.draft_document(actor=people[Role.MANAGER], engagement=delivered, kind="PL")
    services.write_words(actor=people[Role.MANAGER], document=draft,
                         words={"pl_statement": {"zh": "清单", "en": "List"}})
    document = issued_document(draft, people)
    before = {f.pk: f.sha256 for f in document.files.all()}
    services.withdraw_document(actor=people[Role.MANAGER], document=document, reason="误发")
    for order in document.render_jobs.filter(state="pending"):
        assert services.take_render_job(order.pk)
    assert {f.pk: f.sha256 for f in document.files.filter(pk__in=before)} == before
    marked = document.files.get(language="en", format="withdrawn-xlsx")
    client.force_login(people[Role.REVIEWER])
    sent = client.get(f"/documents/files/{marked.pk}/")
    assert sent["Content-Type"].endswith("spreadsheetml.sheet")
    assert sent["Content-Disposition"].endswith('-V1.0-withdrawn-en.xlsx"')
    book = load_workbook(io.BytesIO(b"".join(sent.streaming_content)))
    assert all("WITHDRAWN" in sheet.oddHeader.right.text for sheet in book)
    page = client.get(f"/documents/{document.pk}/", headers={"accept-language": "en"})
    shown = page.content.decode()
    assert shown.index("workbook marked as withdrawn") < shown.index("issued document")


def test_a_signed_document_is_not_withdrawn(draft, people):
    document = issued_document(draft, people)
    Document.objects.filter(pk=document.pk).update(state="signed")
    with pytest.raises(WrongState):
        services.withdraw_document(actor=people[Role.MANAGER], document=document, reason="x")


@pytest.mark.slow
def test_the_page_offers_what_a_person_may_do(draft, people, client):
    def offers(role) -> set[str]:
        client.force_login(people[role])
        page = client.get(f"/documents/{draft.pk}/").content.decode()
        return {move for move in ("submit", "confirm", "send-back", "recall", "issue")
                if f'/documents/{draft.pk}/{move}/"' in page}

    assert (offers(Role.MANAGER), offers(Role.CONSULTANT)) == ({"submit"}, {"submit"})
    services.submit_document(actor=people[Role.MANAGER], document=draft)
    assert (offers(Role.MANAGER), offers(Role.CONSULTANT)) == (
        {"recall"}, {"confirm", "send-back"})
    services.review_document(actor=people[Role.CONSULTANT], document=draft)
    assert (offers(Role.MANAGER), offers(Role.ADMINISTRATOR)) == (
        {"recall", "send-back"}, {"issue", "send-back"})


def test_a_stranger_reaches_no_step(draft, client, stranger):
    client.force_login(stranger)
    for move in ("submit", "confirm", "send-back", "recall", "issue", "withdraw", "preview"):
        assert client.post(f"/documents/{draft.pk}/{move}/").status_code == 404


def test_a_customer_does_not_see_what_is_not_issued(draft, people):
    customer: User = people[Role.REVIEWER]
    seen = []
    services.submit_document(actor=people[Role.MANAGER], document=draft)
    seen.append(Document.objects.visible_to(customer).count())
    services.review_document(actor=people[Role.CONSULTANT], document=draft)
    services.order_issue(actor=people[Role.ADMINISTRATOR], document=draft)
    seen.append(Document.objects.visible_to(customer).count())  # being issued
    for order in draft.render_jobs.all():
        services.take_render_job(order.pk)
    seen.append(Document.objects.visible_to(customer).count())
    assert seen == [0, 0, 1]


def test_what_reviewers_remark_stays_within_the_firm(draft, people, client):
    services.submit_document(actor=people[Role.MANAGER], document=draft)
    services.review_document(actor=people[Role.CONSULTANT], document=draft, comment="内部意见")
    services.issue_document(actor=people[Role.ADMINISTRATOR], document=draft)
    seen = {}
    for role in (Role.MANAGER, Role.REVIEWER):
        client.force_login(people[role])
        seen[role] = ["内部意见" in client.get(path).content.decode() for path in (
            f"/documents/{draft.pk}/", f"/api/v1/documents/{draft.pk}/")]
    assert seen == {Role.MANAGER: [True, True], Role.REVIEWER: [False, False]}


@pytest.mark.slow
def test_a_document_on_which_the_customer_decided_is_not_withdrawn(delivered, people):
    from delivery.acceptance.services import decide, open_review

    manager = people[Role.MANAGER]
    draft = services.draft_acceptance(actor=manager, engagement=delivered)
    document = issued_document(draft, people)
    review = open_review(actor=manager, document=document)
    decide(actor=people[Role.REVIEWER], review=review, decision="rejected", reason="未达标",
           retest_on=timezone.localdate() + timedelta(days=9))
    with pytest.raises(WrongState):
        services.withdraw_document(actor=manager, document=document, reason="x")
    assert Document.objects.get(pk=document.pk).state == "issued"
