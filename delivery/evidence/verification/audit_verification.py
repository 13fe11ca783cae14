"""Checks that the audit log and the rows it tracks are what the application wrote."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.core.exceptions import ObjectDoesNotExist
from django.utils.translation import gettext as _

from delivery.evidence.archives.archive import ArchiveError, extract
from delivery.evidence.verification.check_steps import CheckStep
from engagements.audit import audit_log
from engagements.audit.row_comparison import Difference
from engagements.audit_rows.tracking import tracked_tables
from engagements.models import AuditEntry
from engagements.web.json_limits import parse_json


def verify_audit_log(bundles: list[Path]) -> Iterator[CheckStep]:
    """Check the hash chain, the tracked rows, and the log entries named in bundles.

    A bundle handed to a customer holds hashes of log entries, which reveal even a log that
    was rewritten together with its key.
    """
    found = [CheckStep(False, _finding(one)) for one in audit_log.findings()]
    yield from found
    if not found:
        yield CheckStep(True, _("%(n)d entries, each with its hash, order and seal.") % {
            "n": AuditEntry.objects.count()})
    yield from _rows()
    for path in bundles:
        yield from _bundle(path)


def _finding(found: audit_log.Finding) -> str:
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


def _rows() -> Iterator[CheckStep]:
    """Every row of the tracked tables is what its last log entry says."""
    is_good = True
    for found in audit_log.row_differences():
        is_good = False
        yield CheckStep(False, _difference(found))
    if is_good:
        yield CheckStep(True, _("The rows of %(n)d tables are what the log says.") % {
            "n": len(tracked_tables())})


def _difference(found: Difference) -> str:
    row = found.row
    sentence = {
        "changed": _("%(table)s row %(key)s (%(label)s): %(columns)s is not what entry "
                     "%(number)s says."),
        "missing": _("%(table)s row %(key)s is missing; entry %(number)s speaks of it."),
        "unknown": _("%(table)s row %(key)s (%(label)s) was not written by the application: no "
                     "entry speaks of it."),
    }[found.problem]
    return sentence % {"table": found.table._meta.label, "key": found.key, "number": found.entry,
                       "label": _named(row), "columns": ", ".join(found.columns)}


def _named(row) -> str:
    """`str` of the row; a question mark if the row is too damaged for it."""
    try:
        return str(row)
    except (ObjectDoesNotExist, LookupError, TypeError, ValueError, AttributeError):
        return "?"


def _bundle(path: Path) -> Iterator[CheckStep]:
    """The entries that a bundle names are in the log with the same hashes."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            files = extract(path, Path(folder))
            rows = parse_json(files["audit.json"].path.read_text("utf-8"))
            stated = {int(row["number"]): str(row["hash"]) for row in rows}
        except (ArchiveError, KeyError, TypeError, ValueError) as error:
            yield CheckStep(False,
                            _("%(name)s holds no readable list of log entries: %(problem)s") % {
                "name": path.name, "problem": error})
            return
    known = dict(AuditEntry.objects.filter(pk__in=stated).values_list("pk", "entry_hash"))
    wrong = [number for number, digest in stated.items() if known.get(number) != digest]
    for number in wrong:
        yield CheckStep(False, _("Entry %(number)d is not the one that %(name)s names.") % {
            "number": number, "name": path.name})
    if not wrong:
        yield CheckStep(True, _("%(name)s: its %(n)d entries are in the log, unchanged.") % {
            "name": path.name, "n": len(stated)})
