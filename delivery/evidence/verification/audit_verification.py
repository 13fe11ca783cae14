"""Checks that the audit log and the rows it tracks are what the application wrote."""

import tempfile
from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from pathlib import Path

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bundle_verifier import log_extract
from bundle_verifier.archive import ArchiveError, extract
from bundle_verifier.check_steps import CheckStep
from bundle_verifier.json_limits import parse_json
from engagements.audit import audit_log, checkpoint, published_heads
from engagements.audit.row_comparison import Difference, Gap
from engagements.audit_rows.tracking import tracked_tables
from engagements.models import AuditEntry

ENTRIES_PER_CHECKPOINT = 10_000
FilesCheck = Callable[[bool], Iterator[CheckStep]]
_files_checks: list[FilesCheck] = []


def register_files_check(check: FilesCheck) -> None:
    """Add what says how the stored files are; with True it reads them."""
    _files_checks.append(check)


def verify_audit_log(bundles: list[Path], *, goes_on: bool = False, folder: Path | None = None,
                     heads: Collection[tuple[int, str]] = (), reads_files: bool = False,
                     progress: Callable[[int, int], None] = lambda _number, _last: None
                     ) -> Iterator[CheckStep]:
    """Check the hash chain, the tracked rows, and the log entries named in bundles.

    A bundle handed to a customer holds hashes of log entries, which reveal even a log that
    was rewritten together with its key.

    Args:
        goes_on: begin the chain behind the entry up to which it was whole last time.
        folder: with copies of the archives' files; else they are read from the artifact store.
        heads: number and hash of entries that were mailed to somebody or written down.
        reads_files: read the stored files as well.
        progress: called with the number of the entry that was reached and of the last one.
    """
    start = checkpoint.last() if goes_on else None
    walk = _Walk(start, progress)
    found = []
    for one in audit_log.findings(start, walk, folder):
        walk.is_whole = False
        found.append(one)
    yield from (CheckStep(False, _finding(one)) for one in found)
    if not found:
        yield CheckStep(True, walk.sentence())
    if walk.backwards:
        yield CheckStep(True, walk.backwards_sentence(), is_open=True)
    if any(one.archive for one in found):
        return  # what rows were, and entries that bundles name, may stand there
    yield from _heads(heads, folder)
    yield from _rows(folder)
    for check in _files_checks:
        yield from check(reads_files)
    for path in bundles:
        yield from _bundle(path, folder)


class _Walk:
    """Counts the entries that are walked, and keeps a checkpoint now and then."""

    def __init__(self, start: checkpoint.Checkpoint | None, progress: Callable[[int, int], None]
                 ) -> None:
        self.start, self.progress, self.count, self.is_whole = start, progress, 0, True
        self.last = AuditEntry.objects.aggregate(last=Max("pk"))["last"] or 0
        self.latest: AuditEntry | None = None
        self.backwards: list[tuple[timedelta, AuditEntry]] = []  # how far, and where

    def __call__(self, entry: AuditEntry) -> None:
        self.count += 1
        if self.latest and entry.at < self.latest.at:
            self.backwards.append((self.latest.at - entry.at, entry))
        else:
            self.latest = entry
        if self.count % ENTRIES_PER_CHECKPOINT == 0 or entry.pk == self.last:
            if self.is_whole:
                checkpoint.keep(checkpoint.Checkpoint(
                    entry.pk, entry.entry_hash, entry.seal, timezone.now().isoformat()))
            self.progress(entry.pk, self.last)

    def sentence(self) -> str:
        if self.start is None:
            return _("%(n)d entries, each with its hash, order and seal.") % {"n": self.count}
        return _("%(n)d entries after number %(number)d, each with its hash, order and seal; "
                 "earlier ones were checked on %(day)s and not rechecked.") % {
            "n": self.count, "number": self.start.number, "day": self.start.at[:10]}


    def backwards_sentence(self) -> str:
        by, entry = max(self.backwards, key=lambda found: found[0])
        return ngettext(
            "The time of %(n)d entry is before that of an earlier one; by %(by)s at entry "
            "%(number)d: clocks differ, or one was set back.",
            "The times of %(n)d entries are before that of an earlier one; the furthest by %(by)s "
            "at entry %(number)d: clocks differ, or one was set back.", len(self.backwards)) % {
            "n": len(self.backwards), "by": by, "number": entry.pk}


def _heads(told: Collection[tuple[int, str]], folder: Path | None) -> Iterator[CheckStep]:
    """The log still holds each entry that was published or that somebody was told of."""
    stored = list(published_heads.stored())
    known = audit_log.hashes_of(
        {head.number for head in stored} | {number for number, _hash in told}, folder)
    wrong = [head for head in stored if known.get(head.number) != head.hash]
    for head in wrong:
        is_open = bool(head.hash) and head.is_answered_for
        sentence = (_("Entry %(number)d, published on %(day)s, was lost when an older backup was "
                      "restored.") if is_open else
                    _("Entry %(number)d, published on %(day)s, is not in the log: entries were "
                      "removed, or an older state of the database was brought back."))
        yield CheckStep(is_open, sentence % {"number": head.number, "day": head.at[:10]},
                        is_open=is_open)
    for number, digest in told:
        is_same = known.get(number) == digest
        yield CheckStep(is_same, (_("Entry %(number)d has the hash that was told.") if is_same else
                                  _("Entry %(number)d has another hash than was told, or is "
                                    "missing.")) % {"number": number})
    if not stored:
        yield CheckStep(True, _("No head of the log was published so far: whether an older state "
                                "of the database was brought back is told by this machine's own "
                                "record alone."), is_open=True)
    elif not wrong:
        yield CheckStep(True, ngettext("%(n)d published entry is in the log, unchanged.",
                                       "%(n)d published entries are in the log, unchanged.",
                                       len(stored)) % {"n": len(stored)})


def _archive_finding(found: audit_log.Finding) -> str:
    sentence = {
        "missing": _("The archive %(name)s is missing: entries %(first)d to %(last)d cannot be "
                     "checked, and rows cannot be compared."),
        "unreadable": _("The archive %(name)s cannot be read to its end: entries %(first)d to "
                        "%(last)d are not all checked, and rows cannot be compared."),
        "changed": _("The archive %(name)s (entries %(first)d to %(last)d) was changed: its "
                     "SHA-256 is another one. Rows cannot be compared."),
    }[found.problem]
    archive = found.archive
    return sentence % {"name": archive, "first": archive.first_number, "last": archive.last_number}


def _finding(found: audit_log.Finding) -> str:
    entry = found.entry
    if found.archive:
        return _archive_finding(found)
    if found.seen:
        return _seen_finding(found.seen, found.problem)
    if entry is None:
        return _("All entries are missing.")
    sentence = {
        "changed": _("Entry %(number)d (%(action)s, %(label)s, %(at)s) was changed."),
        "order": _("Entry %(number)d (%(action)s, %(label)s, %(at)s) does not follow the one "
                   "before it: an entry was removed, added or moved there."),
        "seal": _("Entry %(number)d (%(action)s, %(label)s, %(at)s) was not written by the "
                  "application, or one before it was not: its seal is not valid."),
        "unsealed": _("Entry %(number)d (%(action)s, %(label)s, %(at)s) has no valid seal as the "
                      "log's end: entries after it were removed, or processes of an older version "
                      "have gone on after an upgrade."),
        "end": _("After entry %(number)d (%(action)s, %(label)s, %(at)s) entries are missing, or "
                 "it was added."),
    }[found.problem]
    return sentence % {"number": entry.pk, "action": entry.action, "label": entry.target_label,
                       "at": f"{entry.at:%Y-%m-%dT%H:%M:%SZ}"}


def _seen_finding(seen: checkpoint.Checkpoint, problem: str) -> str:
    sentence = {
        "cut": _("On %(day)s this log was whole up to entry %(number)d, which is missing now with "
                 "all that followed it: entries were removed, or an older state of the database "
                 "was brought back."),
        "replaced": _("On %(day)s another entry %(number)d stood here: entries were removed and "
                      "others written in their place."),
    }[problem]
    return sentence % {"day": seen.at[:10], "number": seen.number}


def _rows(folder: Path | None) -> Iterator[CheckStep]:
    """Every row of the tracked tables is what its last log entry says; which numbers of jobs were
    given and nothing speaks of."""
    is_good, gaps = True, []
    for found in audit_log.row_differences(folder, gaps.append):
        is_good = False
        yield CheckStep(False, _difference(found))
    if is_good:
        yield CheckStep(True, _("The rows of %(n)d tables are what the log says.") % {
            "n": len(tracked_tables())})
    for gap in gaps:
        yield CheckStep(True, _gap(gap), is_open=True)


def _gap(gap: Gap) -> str:
    return _("%(table)s: number %(numbers)s was given, and neither a row nor the log has it: a "
             "write that was not completed, or a row that was removed with its entries.") % {
        "table": gap.table._meta.label,
        "numbers": str(gap.first) if gap.first == gap.last else f"{gap.first}–{gap.last}"}


def _difference(found: Difference) -> str:
    row = found.row
    sentence = {
        "changed": _("%(table)s row %(key)s (%(label)s): %(columns)s is not what entry "
                     "%(number)s says."),
        "missing": _("%(table)s row %(key)s is missing; entry %(number)s mentions it."),
        "unknown": _("%(table)s row %(key)s (%(label)s) was not written by the application: no "
                     "entry mentions it."),
    }[found.problem]
    return sentence % {"table": found.table._meta.label, "key": found.key, "number": found.entry,
                       "label": _named(row), "columns": ", ".join(found.columns)}


def _named(row) -> str:
    """`str` of the row; a question mark if the row is too damaged for it."""
    try:
        return str(row)
    except (ObjectDoesNotExist, LookupError, TypeError, ValueError, AttributeError):
        return "?"


def _bundle(path: Path, folder: Path | None) -> Iterator[CheckStep]:
    """The entries that a bundle names are in the log with the same hashes."""
    with tempfile.TemporaryDirectory() as unpacked:
        try:
            files = extract(path, Path(unpacked))
            rows = parse_json(files["audit.json"].path.read_text("utf-8"))
            listed = {int(row["number"]): str(row["hash"]) for row in rows}
            left_out = set()
            if log_extract.FILE in files:  # bundles made earlier have none
                held, left_out = _extracted(files[log_extract.FILE].path)
                listed.update(held)
        except (ArchiveError, KeyError, TypeError, ValueError) as error:
            yield CheckStep(False,
                            _("%(name)s holds no readable list of log entries: %(problem)s") % {
                "name": path.name, "problem": error})
            return
    known = audit_log.hashes_of(listed, folder)
    wrong = [number for number, digest in listed.items() if known.get(number) != digest]
    for number in wrong:
        yield CheckStep(False, _("Entry %(number)d is not the one that %(name)s names.") % {
            "number": number, "name": path.name})
    for number in sorted(left_out):
        yield CheckStep(False, _("Entry %(number)d of the engagement is not in %(name)s.") % {
            "number": number, "name": path.name})
    if not wrong:
        yield CheckStep(True, _("%(name)s: its %(n)d entries are in the log, unchanged.") % {
            "name": path.name, "n": len(listed)})


def _extracted(path: Path) -> tuple[dict[int, str], set[int]]:
    """Hashes of the entries that a bundle's log holds, and the engagement's that it leaves out;
    those that were archived meanwhile are not looked for."""
    rows = [parse_json(line, may_be_infinite=True)
            for line in path.read_text("utf-8", "surrogatepass").split("\n") if line]
    held = {int(row["number"]): str(row["hash"]) for row in rows if "hash" in row}
    known = AuditEntry.objects.filter(engagement__code=rows[0]["of"]["engagement"],
                                      pk__lte=rows[0]["head"]["number"])
    return held, set(known.values_list("pk", flat=True)) - held.keys()
