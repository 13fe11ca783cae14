"""What rests on a stored file: the rows that name it, and documents whose evidence it is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.acceptance.models import NoticeProof, PowerOfAttorney, Signature
from delivery.evidence.models import EvidenceBundle
from delivery.operation.backup.stored_files import columns
from delivery.reports.models import Document, DocumentFile
from workers.models import Artifact


@dataclass(frozen=True)
class Dependent:
    """`is_document`: an issued document, as opposed to the file's own row."""

    text: str
    url: str = ""
    is_document: bool = False


def dependents_of(name: str) -> list[Dependent]:
    """Each once: first the rows that name the file, then the issued documents behind them."""
    found: dict[Dependent, None] = {}
    for table, field in columns():
        describe = DESCRIBED.get(table, _row)
        for row in table._base_manager.filter(**{field.attname: name}).order_by("pk"):
            found.update(dict.fromkeys(describe(row)))
    return sorted(found, key=lambda dependent: dependent.is_document)


def evidence_names(document: Document) -> list[str]:
    """Names in the store of the raw files that an issued document rests on."""
    ids = [row["id"] for row in document.snapshot.get("evidence", ())]
    return sorted(set(Artifact.objects.filter(pk__in=ids).values_list("file", flat=True)))


def _row(row: models.Model) -> Iterator[Dependent]:
    yield Dependent(f"{row._meta.verbose_name}: {row}")


def _artifact(artifact: Artifact) -> Iterator[Dependent]:
    place = artifact.engagement.code if artifact.engagement else _("no project")
    yield Dependent(f"{artifact.name} ({place})", reverse("workers:artifact", args=[artifact.pk]))
    documents = Document.objects.filter(engagement=artifact.engagement_id).frozen()
    for pk, evidence in documents.values_list("pk", "snapshot__evidence").iterator():
        if any(row["id"] == artifact.pk for row in evidence or ()):
            yield _of_document(Document.objects.without_facts().get(pk=pk))


def _of_document(document: Document) -> Dependent:
    return Dependent(str(document), reverse("reports:document", args=[document.pk]), True)


def _document_file(file: DocumentFile) -> Iterator[Dependent]:
    yield Dependent(file.download_name)
    yield _of_document(file.document)


def _bundle(bundle: EvidenceBundle) -> Iterator[Dependent]:
    yield Dependent(_("evidence bundle %(n)d") % {"n": bundle.pk})
    if bundle.document:
        yield _of_document(bundle.document)


def _signature(signature: Signature) -> Iterator[Dependent]:
    yield Dependent(_("scan of a signature"))
    yield _of_document(signature.review.document)


def _power(power: PowerOfAttorney) -> Iterator[Dependent]:
    yield Dependent(f"{power.file_name} ({power.engagement.code})")


def _notice_proof(proof: NoticeProof) -> Iterator[Dependent]:
    yield Dependent(proof.file_name)
    yield _of_document(proof.review.document)


DESCRIBED: dict[type[models.Model], Callable[[models.Model], Iterator[Dependent]]] = {
    Artifact: _artifact, DocumentFile: _document_file, EvidenceBundle: _bundle,
    Signature: _signature, PowerOfAttorney: _power, NoticeProof: _notice_proof,
}
