"""Entries that leave the installation so that they can be recomputed elsewhere, and what of them
customers and auditors do not read. Form and check: `bundle_verifier.log_extract`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import UTC

from django.db.models import Q

from bundle_verifier.log_extract import lines
from engagements.audit import audit_log
from engagements.audit.published_heads import Tree
from engagements.audit_rows.tracking import open_tables
from engagements.models import AuditChain, AuditEntry, Engagement, User

PUBLISHED = "audit.head"  # entries that name published heads stand in every extract
OF_THE_LOG = frozenset({AuditChain._meta.label_lower})


def is_open(entry: AuditEntry) -> bool:
    """Whether customers and auditors read what the entry says: it is about no confidential table
    (`track_rows`), and neither are the rows that it holds."""
    return {entry.target_type, *entry.rows} <= open_tables() | OF_THE_LOG


def open_targets() -> Q:
    """Entries about tables that are not confidential, as a condition."""
    return Q(target_type__in=open_tables() | OF_THE_LOG)


def extract(entries: Iterable[AuditEntry], of: dict, opens: Callable[[AuditEntry], bool] = is_open
            ) -> Iterator[str]:
    """The lines of the file; the same log gives the same lines.

    Args:
        entries: those that go in, oldest first.
        of: what was asked for, for the reader of the file.
        opens: which of them with their contents; of the others number, time, action and hash.
    Raises:
        WrongState: entries of the log are missing. ArchiveFault: an archive cannot be read.
    """
    tree = Tree()
    names: dict[int, str] = {}

    def facts(entry: AuditEntry) -> dict:
        if not opens(entry):
            return {"number": entry.pk, "at": entry.at.astimezone(UTC).isoformat(),
                    "action": entry.action, "hash": entry.entry_hash, "is_withheld": True}
        if entry.actor_id and entry.actor_id not in names:
            names[entry.actor_id] = User.objects.get(pk=entry.actor_id).get_full_name()
        return {**audit_log.entry_facts(entry), "previous_hash": entry.previous_hash,
                "who": names.get(entry.actor_id, "")}

    return lines(asdict(tree.head()), of,
                 (facts(entry) for entry in entries if entry.pk <= tree.number), tree.subtree)


def entries_of(engagement: Engagement) -> Iterator[AuditEntry]:
    """All entries of an engagement, archived ones first, and those that name published heads."""
    known = audit_log.archived_entries(engagement, lambda entry: True)
    yield from known
    yield from AuditEntry.objects.filter(
        Q(engagement=engagement) | Q(action=PUBLISHED)).order_by("pk").iterator(
        chunk_size=audit_log.ENTRIES_AT_ONCE)
