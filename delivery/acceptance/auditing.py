"""Whether the audit log, and what it vouches for, is what the application wrote."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation import gettext as _

from delivery.acceptance.archive import ArchiveError, extract
from delivery.acceptance.models import Signature
from delivery.acceptance.steps import Step
from delivery.reports.models import Document
from delivery.reports.snapshot import content_hash
from engagements import audit
from engagements.models import AuditEntry


def check_log(bundles: list[Path]) -> Iterator[Step]:
    """The hash chain; documents and signatures against it; bundles given away against it.

    A bundle holds hashes of entries that left the house: they show even a log that was written
    anew together with its key.
    """
    found = [Step(False, _finding(one)) for one in audit.findings()]
    yield from found
    if not found:
        yield Step(True, _("%(n)d entries, each with its hash, order and seal.") % {
            "n": AuditEntry.objects.count()})
    yield from _documents()
    yield from _signatures()
    for path in bundles:
        yield from _bundle(path)


def _finding(found: audit.Finding) -> str:
    entry = found.entry
    if entry is None:
        return _("All entries are missing.")
    sentence = {
        "changed": _("Entry %(number)d (%(action)s, %(label)s, %(at)s) was changed."),
        "order": _("Entry %(number)d (%(action)s, %(label)s, %(at)s) does not follow the one "
                   "before it: an entry was removed, added or moved there."),
        "seal": _("Entry %(number)d (%(action)s, %(label)s, %(at)s) was not written by the "
                  "application, or one before it was not: its seal does not hold."),
        "end": _("After entry %(number)d (%(action)s, %(label)s, %(at)s) entries are missing, or "
                 "it was added."),
    }[found.problem]
    return sentence % {"number": entry.pk, "action": entry.action, "label": entry.target_label,
                       "at": f"{entry.at:%Y-%m-%dT%H:%M:%SZ}"}


def _stated(action: str) -> dict[str, list[dict]]:
    """What the log says of each document, by its key."""
    found: dict[str, list[dict]] = {}
    for entry in AuditEntry.objects.filter(action=action, target_type="reports.document"):
        found.setdefault(entry.target_id, []).append({**entry.data, "actor": entry.actor_id})
    return found


def _documents() -> Iterator[Step]:
    """Each issued document still has the content whose hash the log holds."""
    stated, wrong, count = _stated("document.issue"), 0, 0
    for document in Document.objects.exclude(content_hash="").iterator():
        count += 1
        digest = content_hash(document.snapshot)
        hashes = {row.get("hash") for row in stated.get(str(document.pk), [])}
        if digest != document.content_hash or digest not in hashes:
            wrong += 1
            yield Step(False, _("Document %(document)s (row %(pk)d) is not what was issued.") % {
                "document": document, "pk": document.pk})
    if not wrong:
        yield Step(True, _("%(n)d issued documents are what the log says.") % {"n": count})


def _signatures() -> Iterator[Step]:
    """Each signature stands in the log, and each one of the log is still there."""
    stated, wrong = _stated("document.sign"), 0
    logged = {(pk, row["actor"]): row for pk, rows in stated.items() for row in rows}
    kept = Signature.objects.select_related("review__document", "identification", "power")
    for row in kept:
        entry = logged.pop((str(row.review.document_id), row.signer_id), None)
        if entry is None or _facts(row) != {name: entry.get(name) for name in _facts(row)}:
            wrong += 1
            yield Step(False, _("The signature of %(name)s on %(document)s (row %(pk)d) is not "
                                "what the log says.") % {
                "name": row.name, "document": row.review.document, "pk": row.pk})
    for (pk, _actor), entry in logged.items():
        wrong += 1
        yield Step(False, _("The signature of %(name)s on document row %(pk)s is missing.") % {
            "name": entry.get("name"), "pk": pk})
    if not wrong:
        yield Step(True, _("%(n)d signatures are what the log says.") % {"n": len(kept)})


def _facts(row: Signature) -> dict:
    return {"hash": row.signed_hash, "files": row.file_hashes, "name": row.name,
            "capacity": row.capacity, "decision": row.review.decision, "mark": row.mark,
            "scan": row.scan_sha256, "terms": row.identification.terms_hash,
            "power": row.power.sha256 if row.power else ""}


def _bundle(path: Path) -> Iterator[Step]:
    """The entries that a bundle names are in the log with the same hashes."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            files = extract(path, Path(folder))
            rows = json.loads(files["audit.json"].path.read_text("utf-8"))
            stated = {int(row["number"]): str(row["hash"]) for row in rows}
        except (ArchiveError, KeyError, TypeError, ValueError) as error:
            yield Step(False, _("%(name)s holds no readable list of log entries: %(problem)s") % {
                "name": path.name, "problem": error})
            return
    known = dict(AuditEntry.objects.filter(pk__in=stated).values_list("pk", "entry_hash"))
    wrong = [number for number, digest in stated.items() if known.get(number) != digest]
    for number in wrong:
        yield Step(False, _("Entry %(number)d is not the one that %(name)s names.") % {
            "number": number, "name": path.name})
    if not wrong:
        yield Step(True, _("%(name)s: its %(n)d entries are in the log, unchanged.") % {
            "name": path.name, "n": len(stated)})
