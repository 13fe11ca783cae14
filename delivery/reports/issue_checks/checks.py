"""What stands in the way of issuing a document, each with the page where it is cured."""

from collections.abc import Callable, Iterator
from typing import Any

from django.urls import reverse
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from delivery.documents.bilingual import in_language
from delivery.documents.tables.table import blanks
from delivery.reports import registry
from delivery.reports.facts.run_records import open_jobs
from delivery.reports.facts.source import source_of
from delivery.reports.issue_checks.agreement_checks import agreement_holds
from delivery.reports.models import Document
from delivery.reports.registry import Problem, Rule
from engagements.errors import InvalidInput
from engagements.models import Engagement
from engagements.remembered_reads import reading_once
from engagements.text.printable_text import printable_facts
from workers.artifacts.artifact_store import finite_json
from workers.models import Artifact


def problems_of(document: Document) -> list[Problem]:
    """All that stands in the way of issuing, in order; empty if nothing does."""
    kind = registry.get(document.kind)
    with reading_once():
        found = [problem for rule in (*COMMON, *kind.rules) for problem in rule(document)]
    return list(dict.fromkeys(found))


def require_complete(document: Document) -> None:
    """Raise InvalidInput naming all that stands in the way of issuing, and where it is cured."""
    problems = problems_of(document)
    if problems:
        raise InvalidInput(
            " ".join(problem.sentence for problem in problems),
            problems=[problem.sentence for problem in problems],
            cures=[problem.url for problem in problems])


def shown(document: Document, key: str) -> Any:
    """A part of the draft's facts in the language of the reader, for sentences."""
    return in_language(document.snapshot.get(key, {}), get_language() or "zh-hans")


def page(route: str, document: Document) -> str:
    """The address of a page of the document's engagement."""
    return reverse(route, args=[document.engagement.code])


# Rules of every kind ------------------------------------------------------------------


def parties(document: Document) -> Iterator[Problem]:
    """Cells of the cover that every document needs (DOMAIN 9.1)."""
    if not shown(document, "supplier")["name"]:
        yield Problem(_("Fill in the name of your own company."), reverse("documents:company"))
    if not document.snapshot["models"]:
        yield Problem(_("The engagement has no model."),
                      page("engagements:engagement", document))


def words_written(document: Document) -> Iterator[Problem]:
    """Passages that may not be empty, in both languages."""
    for block in registry.get(document.kind).blocks_for(document.snapshot):
        text = document.words.get(block.code, {})
        if block.is_required and not text.get("zh", "").strip():
            yield Problem(_("Write the passage “%(title)s”.") % {"title": block.title},
                          reverse("reports:texts", args=[document.pk]))


def tables_filled(document: Document) -> Iterator[Problem]:
    """No required cell of a table is blank (AR-07)."""
    for entry in shown(document, "tables").values():
        for title, rows in blanks(entry).items():
            yield Problem(
                _("Table “%(table)s”: “%(column)s” is blank in row %(rows)s.") % {
                    "table": entry["caption"], "column": title,
                    "rows": ", ".join(map(str, rows))}, entry.get("cure", ""))


def practice_marked(document: Document) -> Iterator[Problem]:
    """Practice data may enter the documents of a practice engagement only, where all is marked."""
    facts = document.snapshot
    rows = [r for name in ("metrics", "runs", "evidence") for r in facts.get(name, [])]
    is_known = facts["is_practice"] and Engagement.objects.filter(
        pk=document.engagement_id, has_practice_data=True).exists()
    if any(row["is_practice"] for row in rows) and not is_known:
        yield Problem(_("The document holds practice data, but the engagement is not marked as "
                        "practice; measure again on a genuine node."),
                      f"{reverse('workers:jobs')}?engagement={document.engagement.code}")


def evidence_stands(document: Document) -> Iterator[Problem]:
    """Every raw file that the draft lists is there, under the checksum that it states."""
    listed = {row["id"]: row for row in document.snapshot.get("evidence", [])}
    found = Artifact.objects.in_bulk(listed)
    for pk, row in listed.items():
        artifact = found.get(pk)
        if artifact is None or artifact.sha256 != row["sha256"] or (
                not row["role"] and not artifact.file.storage.exists(artifact.file.name)):
            yield Problem(
                _("The link to the raw file %(name)s is broken: it is "
                  "missing or its checksum differs. Refresh the data.") % {"name": row["name"]},
                reverse("workers:artifact", args=[pk]) if artifact else
                reverse("reports:document", args=[document.pk]))


PARTS = {  # facts beside the tables that the records may move on from
    "runs": lambda: _("Testing performed"), "evidence": lambda: _("Evidence manifest"),
    "stages": lambda: _("Models and stages"), "departures": lambda: _("Waivers and exclusions"),
    "issues": lambda: _("Criteria that are not passed"),
    "deviations": lambda: _("Deviations"), "coverage": lambda: _("Coverage"),
    "open_points": lambda: _("Open points"),
    "definitions": lambda: _("Metric definitions"),
    "agreement": lambda: pgettext("contract", "Agreement"),
    "readiness": lambda: _("Conclusion"), "survey": lambda: _("Objects and method"),
}


def facts_current(document: Document) -> Iterator[Problem]:
    """What the draft shows is what the records say now: tables, runs, files, stages, waivers."""
    url = reverse("reports:document", args=[document.pk])
    now = printable_facts(finite_json(registry.get(document.kind).present(source_of(document))))
    snapshot, language = document.snapshot, get_language() or "zh-hans"
    for key, entry in now.get("tables", {}).items():
        if entry != snapshot.get("tables", {}).get(key):
            yield Problem(_("Table “%(table)s” no longer matches the "
                            "records; refresh the data.")
                          % {"table": in_language(entry["caption"], language)},
                          url)
    for key, title in PARTS.items():
        if key in now and now[key] != snapshot.get(key):
            yield Problem(_("“%(part)s” no longer matches the records; "
                            "refresh the data.") % {"part": title()}, url)


def references_stand(document: Document) -> Iterator[Problem]:
    """No document that the draft refers to was replaced or withdrawn since."""
    named = {row["number"]: row for row in document.snapshot.get("references", [])
             if row["is_delivered"]}
    gone = document.engagement.documents.filter(number__in=named).exclude(
        state__in=Document.IN_FORCE)
    for other in gone:
        if named[other.number]["version"] == f"V{other.version}.0":
            yield Problem(_("%(document)s, to which the draft refers, is no "
                            "longer in force; refresh the data.") % {"document": other},
                          reverse("reports:document", args=[document.pk]))


COMMON: tuple[Rule, ...] = (parties, words_written, tables_filled, practice_marked,
                            evidence_stands, facts_current, references_stand, agreement_holds)


# Rules that kinds choose --------------------------------------------------------------


def contract(document: Document) -> Iterator[Problem]:
    if not document.engagement.contract_number:
        yield Problem(_("Fill in the contract number."), page("engagements:edit", document))


def period(document: Document) -> Iterator[Problem]:
    if not (document.engagement.starts_on and document.engagement.ends_on):
        yield Problem(_("Fill in the start and the end of the engagement."),
                      page("engagements:edit", document))


def no_open_jobs(document: Document) -> Iterator[Problem]:
    covered = [model["code"] for model in document.snapshot["models"]]
    if open_jobs(document.engagement).filter(model__code__in=covered).exists():
        yield Problem(_("Jobs are still running; wait for them or cancel them."),
                      f"{reverse('workers:jobs')}?engagement={document.engagement.code}")


def needs(name: str, sentence: Callable[[], str], route: str) -> Rule:
    """A rule: the fact under that name must not be empty; `route` is the page that fills it."""

    def rule(document: Document) -> Iterator[Problem]:
        if not _at(document.snapshot, name):
            yield Problem(str(sentence()), page(route, document))

    return rule


def _at(facts: Any, path: str) -> Any:
    for key in path.split("."):
        facts = facts.get(key) if isinstance(facts, dict) else None
    return facts
