"""The firm's own chains: set by an administrator, followed by what is submitted from then on."""

import pytest
from django.db import IntegrityError, transaction

from delivery.reports import services
from delivery.reports.approvals import approval_steps
from delivery.reports.models import ApprovalStep, Document
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Membership, Role, User
from tests.cached_fixtures import cached_fixture

STEPS = [
    {"action": "review", "title": "技术审核", "title_en": "Technical review", "role": "consultant"},
    {"action": "review", "title": "商务会签", "title_en": "Commercial co-signature",
     "role": "sales", "is_together": True},
    {"action": "review", "title": "质量审核", "title_en": "Quality review", "role": "operator"},
    {"action": "approve", "title": "总经理批准", "title_en": "Approved by the director",
     "role": "administrator"}]


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr("delivery.reports.rendering.render_document",
                        lambda *a, **k: b"%PDF-1.7 short")


@pytest.fixture
@cached_fixture
def chain(people):
    return services.save_chain(actor=people[Role.ADMINISTRATOR], kind="AC", steps=STEPS)


@pytest.fixture
@cached_fixture
def draft(delivered, people) -> Document:
    return services.draft_document(
        actor=people[Role.MANAGER], engagement=delivered, kind="AC")


def submitted(draft, people) -> Document:
    return services.submit_document(actor=people[Role.MANAGER], document=draft)


def review(document, people, role) -> str:
    return services.review_document(actor=people[role], document=document).state


def test_steps_go_in_order_and_those_of_one_place_together(chain, draft, people):
    document = submitted(draft, people)
    with pytest.raises(NotAllowed):
        review(document, people, Role.OPERATOR)  # not yet
    assert review(document, people, Role.SALES) == "in_review"
    with pytest.raises(NotAllowed):
        review(document, people, Role.OPERATOR)  # the co-signature is missing
    assert review(document, people, Role.CONSULTANT) == "in_review"
    assert review(document, people, Role.OPERATOR) == "reviewed"
    with pytest.raises(NotAllowed):
        services.order_issue(actor=people[Role.MANAGER], document=document)
    issued = services.issue_document(actor=people[Role.ADMINISTRATOR], document=document)
    assert [(row["step"]["en"], row["name"]["en"], bool(row["date"]))
            for row in issued.snapshot["signoffs"]] == [
        ("Technical review", "Consultant", True), ("Commercial co-signature", "Sales", True),
        ("Quality review", "Operator", True), ("Approved by the director", "Administrator", True)]


def test_a_document_keeps_the_chain_it_was_submitted_under(draft, people):
    document = submitted(draft, people)
    services.save_chain(actor=people[Role.ADMINISTRATOR], kind="AC", steps=STEPS)
    assert review(document, people, Role.CONSULTANT) == "reviewed"


def test_nobody_reviews_twice_or_their_own(draft, people):
    twice = [{**STEPS[0], "role": ""}, {**STEPS[0], "role": ""}, STEPS[3]]
    services.save_chain(actor=people[Role.ADMINISTRATOR], kind="AC", steps=twice)
    document = submitted(draft, people)
    assert review(document, people, Role.CONSULTANT) == "in_review"
    for role in (Role.CONSULTANT, Role.MANAGER):
        with pytest.raises(NotAllowed):
            review(document, people, role)
    assert review(document, people, Role.ADMINISTRATOR) == "reviewed"
    with pytest.raises(NotAllowed):  # a reviewer does not approve
        services.order_issue(actor=people[Role.ADMINISTRATOR], document=document)


@pytest.fixture
def colleague(delivered) -> User:
    made = User.objects.create_user("second", role=Role.CONSULTANT, full_name="Second")
    Membership.objects.create(engagement=delivered, user=made, role=made.role)
    return made


def test_a_review_is_handed_over(draft, people, colleague):
    document, consultant = submitted(draft, people), people[Role.CONSULTANT]
    services.hand_over_review(actor=consultant, document=document, colleague=colleague,
                              reason="休假")
    with pytest.raises(NotAllowed):
        services.review_document(actor=consultant, document=document)
    assert services.review_document(actor=colleague, document=document).state == "reviewed"
    assert document.steps.get(action="hand_over").comment == "→ Second: 休假"
    assert AuditEntry.objects.filter(action="document.hand_over").exists()


def test_a_co_signer_must_confirm_too(draft, people, colleague):
    document, consultant = submitted(draft, people), people[Role.CONSULTANT]
    services.add_co_signer(actor=consultant, document=document, colleague=colleague)
    with pytest.raises(InvalidInput):  # asked already
        services.add_co_signer(actor=consultant, document=document, colleague=colleague)
    assert review(document, people, Role.CONSULTANT) == "in_review"
    assert services.review_document(actor=colleague, document=document).state == "reviewed"


def test_nothing_is_handed_to_its_author_or_a_stranger(draft, people, stranger):
    document = submitted(draft, people)
    for other in (people[Role.MANAGER], people[Role.REVIEWER], people[Role.CONSULTANT], stranger):
        with pytest.raises(InvalidInput):
            services.hand_over_review(actor=people[Role.CONSULTANT], document=document,
                                      colleague=other)


def test_sent_back_the_chain_starts_anew(chain, draft, people):
    document = submitted(draft, people)
    review(document, people, Role.SALES)
    services.send_back_document(actor=people[Role.CONSULTANT], document=document, reason="补图")
    assert not document.turns.exists()
    again = submitted(draft, people)
    assert [turn.done_by for turn in again.turns.all()] == [None] * 4


@pytest.mark.parametrize("steps", [
    [], STEPS[:1], STEPS[3:], [STEPS[3], STEPS[0]], [*STEPS[:2], {**STEPS[3], "role": "sales"}],
    [{**STEPS[0], "title": " "}, STEPS[3]], [{**STEPS[0], "role": "reviewer"}, STEPS[3]]])
def test_a_chain_that_could_not_work_is_refused(people, steps):
    with pytest.raises(InvalidInput):
        services.save_chain(actor=people[Role.ADMINISTRATOR], kind="AC", steps=steps)
    assert approval_steps.chain_of("AC")[-1]["action"] == "approve"


def test_one_approval_per_kind(chain):
    with pytest.raises(IntegrityError, match=r"UNIQUE|one_approval_per_kind"), transaction.atomic():
        ApprovalStep.objects.create(kind="AC", position=9, action="approve", title="x")


def test_only_an_administrator_sets_chains(people):
    for role in (Role.MANAGER, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            services.save_chain(actor=people[role], kind="AC", steps=STEPS)
        with pytest.raises(NotAllowed):
            services.reset_chain(actor=people[role], kind="AC")


def test_the_page_sets_and_puts_back(client, people):
    client.force_login(people[Role.ADMINISTRATOR])
    client.post("/documents/chains/SOW/", {
        "title-0": "技术审核", "role-0": "consultant", "title-2": "商务会签", "role-2": "sales",
        "together-2": "on", "title-7": "批准", "role-7": ""})
    assert [(s["title"], s["position"], s["role"]) for s in approval_steps.chain_of("SOW")] == [
        ("技术审核", 1, "consultant"), ("商务会签", 1, "sales"), ("批准", 2, "")]
    page = client.get("/documents/chains/SOW/").content.decode()
    assert 'value="商务会签"' in page
    assert client.get("/documents/chains/nonsense/").status_code == 404
    client.post("/documents/chains/SOW/reset/")
    assert approval_steps.chain_of("SOW") == [dict(step) for step in approval_steps.SHIPPED]


def test_the_api_sets_chains_texts_and_company(client, people):
    def put(path, data):
        return client.put(path, data, content_type="application/json")

    client.force_login(people[Role.ADMINISTRATOR])
    assert put("/api/v1/document-chains/MP/", {"steps": STEPS}).status_code == 200
    shown = client.get("/api/v1/document-chains/MP/").json()
    assert (shown["is_shipped"], [s["position"] for s in shown["steps"]]) == (False, [1, 1, 2, 3])
    assert client.delete("/api/v1/document-chains/MP/").status_code == 204
    assert client.get("/api/v1/document-chains/XX/").status_code == 404
    assert put("/api/v1/document-texts/hd_statement/", {"zh": "移交说明"}).json() == {
        "code": "hd_statement", "zh": "移交说明", "en": "", "is_shipped": False}
    client.delete("/api/v1/document-texts/hd_statement/")
    assert client.get("/api/v1/document-texts/hd_statement/").json()["is_shipped"]
    client.post("/api/v1/document-company/", {"name": "某交付公司", "bank": "某银行"})
    assert client.get("/api/v1/document-company/").json()["bank"] == "某银行"
    client.force_login(people[Role.REVIEWER])
    for path in ("chains", "texts", "company"):
        assert client.get(f"/api/v1/document-{path}/").status_code == 403


def test_hand_over_and_co_sign_by_page_and_api(client, draft, people, colleague):
    document = submitted(draft, people)
    client.force_login(people[Role.CONSULTANT])
    client.post(f"/documents/{document.pk}/co-sign/", {"colleague": colleague.pk})
    assert "Second" in client.get(f"/documents/{document.pk}/").content.decode()
    handed = client.post(f"/api/v1/documents/{document.pk}/hand-over/", {"colleague": "sales"})
    assert handed.status_code == 200
    assert [str(turn.holder) for turn in document.turns.filter(action="review")] == [
        "Sales", "Second"]
