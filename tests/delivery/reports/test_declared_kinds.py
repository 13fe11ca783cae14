"""What a kind of document lacks is said when it is declared, not when its files are made."""

import io
from dataclasses import replace

import docx
import pytest
from django.core import checks
from django.template.loader import render_to_string
from django.utils.translation import override

from delivery.reports import registry, services
from delivery.reports.approvals import approval_steps
from delivery.reports.kind_checks import check_kinds, problems_of_kind
from delivery.reports.office.writers import document_docx
from delivery.reports.registry import Block, DocumentKind, Section, register
from delivery.reports.rendering import context_of
from engagements.models import Role

CHAIN = ({"action": "review", "title": "审核", "title_en": "Checked", "role": "consultant"},
         {"action": "approve", "title": "批准", "title_en": "Released", "role": "administrator"})
LETTER = DocumentKind(
    "LT", "Letter", "A letter.", (Section("about", "About", ("words:lt_about",)),),
    lambda source: {}, blocks=(Block("lt_about", "About"),), writers={"docx": document_docx},
    chain=CHAIN, has_front_pages=False)


@pytest.fixture
def kinds(monkeypatch):
    monkeypatch.setattr(registry, "_kinds", dict(registry._kinds))


@pytest.mark.parametrize(("changed", "problem"), [
    ({"code": "AS"}, "declared twice"), ({"code": "LETTER"}, "longer than the column"),
    ({"sections": (Section("a", "A", ("word:x", "words:lt_about")),)}, "word:x is no part"),
    ({"sections": (Section("a", "A", ("words:lt_about", "words:more")),)}, "words:more is no pass"),
    ({"sections": (Section("description", "A"),)}, "words:lt_about is printed nowhere")])
def test_a_kind_that_contradicts_itself_is_refused(kinds, changed, problem):
    with pytest.raises(ValueError, match=problem):
        register(replace(LETTER, **changed))


@pytest.mark.parametrize(("changed", "problem"), [
    ({"annexes": (Section("nowhere", "A"),)}, "no template documents/parts/nowhere.html"),
    ({"sections": (*LETTER.sections, Section("a", "A", ("part:receipt",)))},
     "part:receipt is in no Word file"),
    ({"chain": CHAIN[:1]}, "two to 8 steps"),
    ({"chain": (*CHAIN, CHAIN[1])}, "at least one review"),
    ({"chain": (CHAIN[0], {**CHAIN[1], "role": "sales"})}, "may not do this step")])
def test_what_only_the_files_would_show_is_found_by_the_check(kinds, changed, problem):
    kind = register(replace(LETTER, **changed))
    with override("en"):
        assert [problem in found for found in problems_of_kind(kind)] == [True]
        assert [(found.id, found.level) for found in check_kinds(None)] == [
            ("documents.E001", checks.ERROR)]


@pytest.mark.django_db
def test_a_kind_with_its_own_chain_and_without_front_pages(kinds, engagement, people):
    register(LETTER)
    assert check_kinds(None) == []
    assert [(step["position"], step["title_en"], step["role"])
            for step in approval_steps.chain_of("LT")] == [
        (1, "Checked", "consultant"), (2, "Released", "administrator")]
    document = services.draft_document(actor=people[Role.MANAGER], engagement=engagement,
                                       kind="LT")
    with override("en"):
        page = render_to_string("documents/document.html", {
            **context_of(document.snapshot, "en"), "html_lang": "en"})
    assert "<h1>Letter</h1>" in page
    assert "Revision history" not in page
    word = docx.Document(io.BytesIO(document_docx(document.snapshot, "en")))
    assert word.tables == []
    assert "About" in [paragraph.text[3:] for paragraph in word.paragraphs]
