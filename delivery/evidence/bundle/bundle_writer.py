"""The evidence bundle of a document: one zip from which every verdict can be recomputed (AR-08)."""

import json
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from django.core.files import File
from django.utils.translation import gettext as _
from django.utils.translation import override

from assessments.models import CriteriaSet, Criterion, Verdict
from assessments.queries import verdicts_of
from assessments.services import criteria_facts
from bundle_verifier import log_extract
from bundle_verifier.archive import ArchiveError, sha256_of, write_archive
from bundle_verifier.bundle_format import WITHHELD, cited_name, raw_name, scan_name, snapshot_parts
from delivery.acceptance.signing.signature_page import log_entries_of, signed_facts
from delivery.evidence.bundle.index_page import index_page
from delivery.evidence.bundle.manifest_signer import ManifestSigner
from delivery.evidence.models import EvidenceBundle
from delivery.planning.models import ChangeRequestFile, PlanBaselineFile, TimesheetFile
from delivery.quotes.models import QuoteFile
from delivery.reports import registry
from delivery.reports.facts.snapshot import canonical
from delivery.reports.models import Document
from engagements.audit import log_extracts
from engagements.errors import InvalidInput
from workers.artifacts.artifact_store import is_intact, local_path
from workers.models import Artifact

FORMAT = 3  # 3: says whether the list of checksums is signed, and by whom
# Files that are issued beside documents, and how each names what has an engagement.
OTHER_FILES = ((QuoteFile, "quote"), (ChangeRequestFile, "change"), (TimesheetFile, "timesheet"),
               (PlanBaselineFile, "baseline__plan"))


def write_bundle(document: Document, withheld: frozenset[int] = frozenset()) -> EvidenceBundle:
    """The stored bundle of an issued document, its row not saved yet.

    The same facts and key give the same bytes, but for the signature, which says when it was made.
    Of the raw files in `withheld` (ids of artifacts) only name, size and checksum go in (AR-19).
    Raises SealUnavailableError if the firm has a key and it cannot sign now.
    """
    signer = ManifestSigner(is_practice=document.is_practice)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        entries, known = _entries(document, Path(folder), stack, withheld, signer)
        path = Path(folder) / "bundle.zip"
        with path.open("wb") as target:
            _written(target, entries, known, signer)
        bundle = EvidenceBundle(
            engagement=document.engagement, document=document, size=path.stat().st_size,
            sha256=sha256_of(path), is_practice=document.is_practice,
            withheld=len(_held_back(document, withheld)), **signer.record())
        with path.open("rb") as stream:
            bundle.file.save(f"{document.number}-V{document.version}-evidence.zip",
                             TemporaryUpload(stream), save=False)
    return bundle


class TemporaryUpload(File):
    """A file that storage on the same disk takes over instead of copying it."""

    def temporary_file_path(self) -> str:
        return self.name


def _held_back(document: Document, withheld: frozenset[int]) -> list[dict]:
    return [row for row in document.snapshot["evidence"] if row["id"] in withheld]


def _entries(document: Document, folder: Path, stack: ExitStack, withheld: frozenset[int],
             signer: ManifestSigner) -> tuple[dict[str, Path], dict[str, str]]:
    """The files by name, and the checksums that raw files must have."""
    criteria = document.engagement.criteria_sets.get(
        version=document.snapshot["criteria"]["version"])
    texts = _texts(document, criteria, _held_back(document, withheld), signer)
    entries, known = {}, {}
    for n, (name, text) in enumerate(texts.items()):
        entries[name] = folder / f"text-{n}"
        entries[name].write_text(text, "utf-8")
    entries[log_extract.FILE] = folder / "log"
    with entries[log_extract.FILE].open("w", encoding="utf-8", errors="surrogatepass") as log:
        log.writelines(log_extracts.extract(log_extracts.entries_of(document.engagement),
                                            {"engagement": document.engagement.code}))
    for stored in document.files.all():
        entries[f"documents/{stored.download_name}"] = _local_copy(
            stored.file, stored.sha256, folder / f"file-{stored.pk}", stored.download_name)
    entries.update(_scans(document, folder))
    entries.update(_cited(document, folder))
    artifacts = {a.pk: a for a in Artifact.objects.filter(
        pk__in=[row["id"] for row in document.snapshot["evidence"]])}
    for row in document.snapshot["evidence"]:
        artifact = artifacts.get(row["id"])
        is_away = row["id"] in withheld
        if artifact is None or artifact.sha256 != row["sha256"] or (
                is_away and not is_intact(artifact)):
            raise _checksum_error(row["name"])
        if not is_away:
            name = raw_name(row["name"], row["sha256"])
            entries[name], known[name] = _localized(artifact, stack), row["sha256"]
    return entries, known


def _localized(artifact: Artifact, stack: ExitStack) -> Path:
    try:
        path = stack.enter_context(local_path(artifact))
    except OSError as error:
        raise _checksum_error(artifact.name) from error
    if not path.is_file():
        raise _checksum_error(artifact.name)
    return path


def _checksum_error(name: str) -> InvalidInput:
    return InvalidInput(_("The raw file %(name)s is missing or its checksum differs.")
                        % {"name": name})


def _written(target: BinaryIO, entries: dict[str, Path], known: dict[str, str],
             signer: ManifestSigner) -> None:
    """Write the archive; InvalidInput names a file whose checksum differs while it is copied."""
    try:
        write_archive(target, entries, known, signer.sign if signer.facts else None)
    except ArchiveError as error:
        raise _checksum_error(error.name) from error


def _scans(document: Document, folder: Path) -> dict[str, Path]:
    """Scans of signatures, proofs of notice and powers of attorney, named by checksum."""
    review = getattr(document, "review", None)
    if review is None:
        return {}
    found = [(row.scan, row.scan_sha256, row.scan_name)
             for row in review.signatures.exclude(scan="")]
    found += [(row.file, row.sha256, row.file_name)
              for row in review.notice_proofs.exclude(file="")]
    found += [(row.power.file, row.power.sha256, row.power.file_name)
              for row in review.signatures.exclude(power=None).select_related("power")]
    return {scan_name(name, digest): _local_copy(file, digest, folder / f"scan-{digest}", name)
            for file, digest, name in found}


def _cited(document: Document, folder: Path) -> dict[str, Path]:
    """The documents on verdicts that the document refers to: their facts and issued files."""
    hashes = [row["hash"] for row in document.snapshot["references"] if row["is_delivered"]]
    found = {}
    for other in document.engagement.documents.filter(content_hash__in=hashes).exclude(
            pk=document.pk):
        if registry.get(other.kind).is_judged:
            path = folder / f"cited-{other.pk}"
            path.write_text(canonical(other.snapshot), "utf-8")
            found[cited_name(f"{other.number}-V{other.version}.json")] = path
            found.update({cited_name(stored.download_name): _local_copy(
                stored.file, stored.sha256, folder / f"cited-file-{stored.pk}",
                stored.download_name) for stored in other.files.all()})
    return found


def _local_copy(file, sha256: str, path: Path, name: str) -> Path:
    """A stored file as a local one. Raises InvalidInput if it is not what was stored."""
    with file.open("rb") as source, path.open("wb") as target:
        shutil.copyfileobj(source, target, 2**20)
    if sha256_of(path) != sha256:
        raise InvalidInput(_("The file %(name)s is missing or its checksum differs.")
                           % {"name": name})
    return path


def _texts(document: Document, criteria: CriteriaSet, held_back: list[dict],
           signer: ManifestSigner) -> dict[str, str]:
    snapshot = document.snapshot
    facts = criteria_facts(criteria)
    review = getattr(document, "review", None)
    signed = signed_facts(review) if review and review.decision else None
    texts = {
        "bundle.json": _json({
            "format": FORMAT, "document": document.number, "version": document.version,
            "content_hash": document.content_hash, "is_practice": document.is_practice,
            "signature": signer.described()}),
        f"snapshots/{document.number}-V{document.version}.json": canonical(snapshot),
        "criteria.json": _json({"version": criteria.version, "facts": facts,
                                "content_hash": criteria.content_hash}),
        **{name: _json(part) for name, part in snapshot_parts(snapshot).items()},
        "verdicts.json": _json(_verdicts(document, criteria)),
        "audit.json": _json(log_entries_of(document)),
        "issued.json": _json(_issued_files(document)),
        "README.en.txt": _readme(document, "en", signer),
        "README.zh.txt": _readme(document, "zh-hans", signer),
        "index.html": index_page(document, "zh-hans", signed, held_back, signer.facts),
        "index.en.html": index_page(document, "en", signed, held_back, signer.facts),
    }
    if signed:
        texts["review.json"] = _json(signed)
    if held_back:
        texts[WITHHELD] = "".join(
            f"{row['sha256']}  {raw_name(row['name'], row['sha256'])}\n" for row in held_back)
    if document.is_practice:
        texts["PRACTICE"] = "演练数据，不是证据。\nPractice data, not evidence.\n"
    return texts


def _json(facts) -> str:
    return json.dumps(facts, ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def _verdicts(document: Document, criteria: CriteriaSet) -> list[dict]:
    """Per criterion, in their signed order: what the document says, and the files behind it."""
    by_criterion = {row["criterion"]: row for row in document.snapshot["metrics"]}
    files = {row["id"]: row for row in document.snapshot["evidence"]}
    rows = []
    for position, (criterion, _newest) in enumerate(verdicts_of(criteria)):
        metric = by_criterion[criterion.pk]
        verdict = _verdict(criterion, metric)
        cards = verdict.facts.get("cards") if verdict else None
        rows.append({
            "criterion": position, "model": criterion.model.code, "quantity": criterion.quantity,
            "definition": metric["definition"], "outcome": metric["outcome"],
            "reason": metric["reason"], "figure": verdict.figure if verdict else None,
            "cards": cards, "baseline": _raw(files, metric["baseline_artifact"]),
            "measured": _raw(files, metric["artifact"]),
            "engine_version": metric["engine_version"],
        })
    return rows


def _verdict(criterion: Criterion, metric: dict) -> Verdict | None:
    """The verdict that the document states: same outcome, reason and raw file."""
    return criterion.verdicts.filter(
        outcome=metric["outcome"], reason=metric["reason"],
        measurement__artifact=metric["artifact"]).first() if metric["computed_at"] else None


def _raw(files: dict[int, dict], artifact_id: int | None) -> str | None:
    row = files.get(artifact_id)
    return raw_name(row["name"], row["sha256"]) if row else None


def _issued_files(document: Document) -> list[dict]:
    """Files of quotes and planning documents that were stored when the document was issued: name,
    size and checksum of each. Weekly reports are not among them: they are the firm's own."""
    rows = []
    for table, owner in OTHER_FILES:
        rows += table.objects.filter(**{
            f"{owner}__engagement": document.engagement_id,
            "created_at__lte": document.issued_at}).select_related(f"{owner}__engagement")
    return sorted(({"name": row.download_name, "size": row.size, "sha256": row.sha256}
                   for row in rows), key=lambda row: (row["name"], row["sha256"]))


def _readme(document: Document, language: str, signer: ManifestSigner) -> str:
    with override(language):
        return _explanation() % {"document": document} + "\n" + signer.explanation() + "\n" + (
            "\n" + _("This bundle holds practice data. It is not evidence.") + "\n"
            if document.is_practice else "")


def _explanation() -> str:
    return _(
        "Evidence bundle of %(document)s\n\n"
        "index.html       everything at a glance, with the curves; opens in a browser, off line\n"
        "documents/       the issued files; signed copies bear the firm's seal (PAdES)\n"
        "snapshots/       the frozen facts of the document; its SHA-256 is the content hash\n"
        "criteria.json    the signed criteria and definitions\n"
        "environment.json source and target set-up of every model, item by item\n"
        "verdicts.json    every verdict with its raw files\n"
        "jobs.json        all runs, also failed and cancelled ones\n"
        "runs.json        per criterion every run that could measure it, and which counts\n"
        "accepted.json    differences that people accepted so that verdicts count\n"
        "nodes.json       what was read of the judged runs' nodes, cards and software\n"
        "survey.json      the answers of the survey that the document cites, and who gave them\n"
        "cited/           the test reports that the document cites, with their frozen facts\n"
        "audit.json       the log's entries of this document, with their hashes\n"
        "log.jsonl        the project's whole log, each entry with its proof\n"
        "issued.json      other files issued in the project until then, with their SHA-256\n"
        "raw/             the raw files\n\n"
        "Check the files:     sha256sum -c SHA256SUMS\n"
        "Check the verdicts:  python manage.py verify <this zip>\n"
        "Check a seal:        pdfsig documents/<file>\n\n"
        "Raw files that are confidential may be held back; WITHHELD then names their checksums. "
        "Whoever has them checks with:\n"
        "                     python manage.py verify <this zip> --raw <folder>\n")
