"""Check-list of deliverables that the customer confirms: documents and files (AR-13)."""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse

from delivery.acceptance.models import Receipt, Review
from delivery.documents.bilingual import in_language

NAMES = {"zh-hans": "中文", "en": "English"}  # each language's name in itself

DeliverableSource = Callable[[Review, str], list[tuple]]

_registered: list[DeliverableSource] = []


def register_deliverables(source: DeliverableSource) -> None:
    """Add deliverables of a package above this one, such as evidence bundles.

    Args:
        source: takes the review and a language; returns rows of key, title, version, SHA-256
            and URL, as the fields of `Deliverable`.
    """
    _registered.append(source)


@dataclass(frozen=True)
class Deliverable:
    """One deliverable. `key` stays the same while version and checksum do."""

    key: str
    title: str
    version: str
    sha256: str
    url: str = ""  # of the page that gives it out; empty for what is not a file
    receipt: Receipt | None = None

    @property
    def is_received(self) -> bool:
        return self.receipt is not None and self.receipt.is_complete


def deliverables_of(review: Review, language: str) -> list[Deliverable]:
    """The check-list of a review: what its document names, its own files, the newest bundle."""
    newest = {row.key: row for row in review.receipts.select_related("received_by")}
    found = [*_named(review, language), *_files(review, language)]
    for source in _registered:
        found += source(review, language)
    return [Deliverable(*row, receipt=newest.get(row[0])) for row in found]


def _named(review: Review, language: str) -> list[tuple]:
    """Documents that the acceptance document rests on, with their content hashes."""
    rows = in_language(review.document.snapshot, language).get("references") or []
    pages = {digest: reverse("reports:document", args=[pk]) for pk, digest in
             review.document.engagement.documents.frozen().values_list("pk", "content_hash")}
    return [(f"document:{row['hash']}", f"{row['title']} {row['number']}", row["version"],
             row["hash"], pages.get(row["hash"], "")) for row in rows if row["is_delivered"]]


def _files(review: Review, language: str) -> list[tuple]:
    document = review.document
    version, title = f"V{document.version}.0", in_language(document.snapshot, language)["title"]
    return [(f"file:{row.language}:{row.sha256}",
             f"{title} {document.number} · {NAMES[row.language]} (PDF)", version, row.sha256,
             reverse("reports:file", args=[row.pk]))
            for row in sorted(
                document.files.filter(format="pdf").select_related("document__engagement"),
                key=lambda row: row.language != language)]
