"""The frozen facts of a document. Everything that a page of it shows is in here."""

from datetime import datetime

from bundle_verifier.canonical import canonical, content_hash
from delivery.reports import registry
from delivery.reports.facts import common
from delivery.reports.facts.source import Source
from delivery.reports.facts.verdicts import criteria_facts
from delivery.reports.models import Document
from engagements.models import User
from engagements.remembered_reads import reading_once
from engagements.text.printable_text import printable_facts
from workers.artifacts.artifact_store import finite_json

__all__ = ["approved", "canonical", "collect", "content_hash"]

SCHEMA = 2
JUDGED_ROWS = ("metrics", "runs", "evidence")


def collect(document: Document, *, now: datetime) -> dict:
    """All facts of a draft, as they stand now; plain JSON with texts in both languages.

    Args:
        document: its number, version and written passages go in as they are.
        now: the time that the document bears.
    """
    source, kind = Source(document), registry.get(document.kind)
    with reading_once():
        facts = {
            "schema": SCHEMA, **common.identity(document, now),
            **common.common_facts(source), "criteria": criteria_facts(source.criteria),
            "words": words_of(document), **kind.facts(source),
        }
    facts["is_practice"] = source.engagement.has_practice_data or any(
        row["is_practice"] for name in JUDGED_ROWS for row in facts.get(name, []))
    return printable_facts(finite_json(facts))


def approved(document: Document, *, now: datetime, approved_by: User) -> dict:
    """The facts that were reviewed, under number, date and names of the issue."""
    return printable_facts({
        **document.snapshot, **common.identity(document, now, approved_by),
        "versions": common.versions(document)})


def words_of(document: Document) -> dict:
    """The written passages: title and text in both languages, by code."""
    return {block.code: {"title": common.both_of(block.title),
                         "text": {"zh-hans": text["zh"], "en": text["en"] or text["zh"]}}
            for block in registry.get(document.kind).blocks
            if (text := {"zh": "", "en": "", **document.words.get(block.code, {})})}
