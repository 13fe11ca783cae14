"""Deliverables are owed until a file, a commit or an image with a checksum fulfils them."""

import pytest
from django.utils.translation import override

from delivery.acceptance.services import open_review
from delivery.documents.bilingual import in_language
from delivery.reports import services
from delivery.reports.facts.trial_run import outdated
from delivery.reports.models import Deliverable
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.conftest import enter, stored
from tests.document_steps import issued_document

COMMIT, DIGEST = "4f2c" * 10, "sha256:" + "ab" * 32


@pytest.fixture
@cached_fixture
def listed(delivered, people):
    """What was agreed, listed: code and weights per model, the rest once."""
    enter(delivered, people, deliverables=["code", "scripts", "weights", "report", "manual"])
    services.list_agreed(actor=people[Role.MANAGER], engagement=delivered)
    return delivered


def facts(engagement, people) -> dict:
    draft = services.draft_acceptance(actor=people[Role.MANAGER], engagement=engagement)
    return in_language(draft.snapshot, "en")


def test_what_was_agreed_is_listed_once(listed, people):
    rows = list(listed.deliverables.values_list("code", "model__code"))
    assert rows.count(("code", "LLM")) == rows.count(("code", "PSR")) == 1
    assert ("manual", None) in rows
    assert services.list_agreed(actor=people[Role.MANAGER], engagement=listed) == []
    with pytest.raises(NotAllowed):
        services.list_agreed(actor=people[Role.CONSULTANT], engagement=listed)


def test_one_thing_fulfils_a_deliverable(listed, people):
    row, consultant = listed.deliverables.get(code="manual"), people[Role.CONSULTANT]
    file = stored(listed, None, "manual.md", b"# Manual")
    for wrong in ({}, {"artifact": file, "image_digest": DIGEST}, {"commit": COMMIT},
                  {"commit": "main", "repository": "https://git.example/x"},
                  {"image_digest": "latest"}):
        with pytest.raises(InvalidInput):
            services.fulfil_deliverable(actor=consultant, deliverable=row, **wrong)
    for given, proof in (
            ({"artifact": file}, f"manual.md · SHA-256 {file.sha256}"),
            ({"commit": COMMIT, "repository": "https://git.example/x"},
             f"https://git.example/x @ {COMMIT}"),
            ({"image_digest": DIGEST}, DIGEST)):
        done = services.fulfil_deliverable(actor=consultant, deliverable=row, **given)
        assert (done.proof, done.delivered_by) == (proof, consultant)
        services.reopen_deliverable(actor=people[Role.MANAGER], deliverable=row)
    assert Deliverable.objects.get(pk=row.pk).proof == ""


@pytest.mark.slow
def test_a_certificate_names_what_is_owed_until_it_is_there(listed, people):
    with override("en"):
        found = facts(listed, people)
    assert len(found["missing_deliverables"]) == listed.deliverables.count()
    assert any("User guide" in sentence for sentence in found["open_points"])
    assert found["tables"]["deliverables"]["rows"][0][-1] == "owed"
    file = stored(listed, None, "manual.md", b"# Manual")
    for row in listed.deliverables.all():
        services.fulfil_deliverable(actor=people[Role.CONSULTANT], deliverable=row, artifact=file)
    listed.documents.all().delete()
    found = facts(listed, people)
    assert found["missing_deliverables"] == []
    assert file.sha256 in found["tables"]["deliverables"]["rows"][0][-2]


@pytest.mark.slow
def test_a_final_certificate_follows_what_was_handed_over_since_the_preliminary_one(
        listed, people, act):
    """Nobody is asked to sign that something is missing which has been there for long."""
    first = act.open(listed, kind="PA").document
    assert len(first.snapshot["missing_deliverables"]) == listed.deliverables.count()
    manual = listed.deliverables.get(code="manual")
    services.fulfil_deliverable(actor=people[Role.CONSULTANT], deliverable=manual,
                                image_digest=DIGEST)
    draft = services.draft_acceptance(actor=people[Role.MANAGER], engagement=listed)
    final = issued_document(draft, people)
    names = in_language(final.snapshot, "en")["missing_deliverables"]
    assert len(names) == listed.deliverables.count() - 1
    assert (outdated(final), any("User guide" in name for name in names)) == ("", False)
    code = listed.deliverables.filter(code="code").first()
    services.fulfil_deliverable(actor=people[Role.CONSULTANT], deliverable=code,
                                image_digest=DIGEST)
    with override("en"):
        assert f"handed over since it was issued: {code}. Draft" in outdated(final)
    with pytest.raises(WrongState):
        open_review(actor=people[Role.MANAGER], document=final)
    services.reopen_deliverable(actor=people[Role.MANAGER], deliverable=code)
    assert outdated(final) == ""


def test_by_page_and_by_api(client, api, outside, delivered, people):
    manager = api(Role.MANAGER)
    enter(delivered, people, deliverables=["code", "manual"])
    made = manager.post("/api/v1/deliverables/agreed/", {"engagement": delivered.code})
    assert made.status_code == 201
    row = next(entry for entry in made.json() if entry["code"] == "manual")
    url = f"/api/v1/deliverables/{row['id']}/"
    assert outside.get(url).status_code == 404
    done = api(Role.CONSULTANT).post(f"{url}fulfil/", {"image_digest": DIGEST})
    assert (done.status_code, done.json()["proof"]) == (200, DIGEST)
    assert api(Role.REVIEWER).get(url).json()["proof"] == DIGEST
    client.force_login(people[Role.MANAGER])
    page = f"/engagements/{delivered.code}/deliverables/"
    assert DIGEST in client.get(page).content.decode()
    assert client.post(f"/deliverables/{row['id']}/reopen/").status_code == 302
    answer = client.post(f"/deliverables/{row['id']}/proof/",
                         {"repository": "https://git.example/x", "commit": COMMIT})
    assert (answer.status_code, COMMIT in client.get(page).content.decode()) == (302, True)
    answer = client.post(f"{page}new/", {"title": "培训记录", "due_stage": "accept"})
    assert (answer.status_code, delivered.deliverables.last().title) == (302, "培训记录")


def test_requirement_and_design_documents_are_owed_where_the_survey_names_them(delivered, people):
    """Seed S0 3.2.2: documents of requirement and design belong to the design stage."""
    from delivery.reports.facts.agreed_deliverables import checks
    from delivery.reports.facts.source import Source
    from delivery.reports.models import Document
    from delivery.surveys.answer_sheet import Sheet
    from delivery.surveys.services import Change, save_answers, start_survey

    def source() -> Source:
        return Source(Document(engagement=delivered, kind="HD"))

    assert checks(source()) == []
    survey = getattr(delivered, "survey", None) or start_survey(
        actor=people[Role.CONSULTANT], engagement=delivered)
    saved = save_answers(actor=people[Role.CONSULTANT], survey=survey, changes=[Change(
        "deliverables", ["code", "requirement", "design"],
        Sheet(survey).cells["deliverables"].revision)])
    assert not saved.errors
    stored(delivered, None, "需求规格说明书.docx", b"x")
    found = {check.code: check for check in checks(source())}
    assert found["requirement"].found == ["需求规格说明书.docx"]
    assert (found["design"].found, found["design"].is_complete) == ([], False)
    services.list_agreed(actor=people[Role.MANAGER], engagement=delivered)
    due = dict(delivered.deliverables.values_list("code", "due_stage"))
    assert (due["requirement"], due["design"], "manual" in due) == ("design", "design", False)
