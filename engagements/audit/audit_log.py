"""The append-only, hash-chained audit log (DOMAIN AR-12)."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.utils import timezone

from engagements.audit.checkpoint import Checkpoint
from engagements.audit.row_comparison import Difference, differences
from engagements.audit_rows.tracking import collect_pending, register_recorder
from engagements.audit_rows.transaction_internals import open_savepoints
from engagements.canonical import content_hash
from engagements.models import AuditChain, AuditEntry, Engagement, User

FIRST_PREVIOUS_HASH = "0" * 64
ENTRIES_AT_ONCE = 500  # in memory while the log is walked


def record(
    *,
    actor: User | None,
    action: str,
    target: models.Model,
    engagement: Engagement | None = None,
    data: dict | None = None,
) -> AuditEntry:
    """Append one entry. Call it inside the transaction of the write it describes, after the write:
    it holds the rows written so far (see `audit_rows.tracking`).

    Args:
        actor: who did it; None for the system itself.
        action: `object.verb`, for example `stage.pass`.
        target: the row that was written.
        data: JSON-able facts; never secrets.
    """
    with transaction.atomic(savepoint=False):
        # Before the chain is locked: everybody who writes waits for it until this one commits.
        entry = AuditEntry(
            actor=actor, action=action,
            target_type=target._meta.label_lower, target_id=str(target.pk),
            target_label=_label(target), engagement=engagement,
            data=json.loads(json.dumps(data or {}, cls=DjangoJSONEncoder)),
            rows=collect_pending(open_savepoints()),
        )
        entry.target = target  # who listens for entries need not read it again
        _append(entry)
    return entry


def _append(entry: AuditEntry) -> None:
    """Lock the chain, and make the entry its end."""
    chain = _locked_chain()
    chain.number += 1
    entry.pk, entry.at, entry.previous_hash = chain.number, timezone.now(), chain.head
    entry.entry_hash = chain.head = entry_hash(entry)
    entry.seal = chain.seal = entry_seal(chain.seal, entry.entry_hash)
    AuditChain.objects.filter(pk=chain.pk).update(
        number=chain.number, head=chain.head, seal=chain.seal)
    entry.save(force_insert=True)


register_recorder(record)


def _label(target: models.Model) -> str:
    """The row's name; a deleted row may depend on others that are gone."""
    try:
        return str(target)[:240]
    except ObjectDoesNotExist:
        return ""


def _locked_chain() -> AuditChain:
    locked = AuditChain.objects.select_for_update(of=("self",), no_key=True)
    chain = locked.filter(pk=1).first()
    if chain is None:
        AuditChain.objects.get_or_create(pk=1)
        chain = locked.get(pk=1)
    return chain


def entry_hash(entry: AuditEntry) -> str:
    """SHA-256 over the previous hash and the entry's own facts, its number among them."""
    facts = [
        entry.pk, entry.previous_hash, _instant(entry.at), entry.actor_id, entry.action,
        entry.target_type, entry.target_id, entry.target_label, entry.data, entry.engagement_id,
        entry.rows,
    ]
    return content_hash(facts)


def entry_seal(previous: str, digest: str) -> str:
    """HMAC-SHA256 under AUDIT_KEY, which the database does not hold: write access to the database
    alone is not enough to make another chain."""
    key = settings.AUDIT_KEY.encode()
    return hmac.new(key, f"{previous}{digest}".encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Finding:
    """An entry at which the log is not what the application wrote.

    `problem`: changed (its facts), order (an entry before it is missing, added or moved), seal
    (hashes were made anew without the key), end (the newest entries are missing or added).
    `entry` is None where nothing is left to name.
    """

    entry: AuditEntry | None
    problem: str


def findings(after: Checkpoint | None = None, walked: Callable[[AuditEntry], None] | None = None
             ) -> Iterator[Finding]:
    """Verify the log, oldest entry first; nothing if it is what the application wrote.

    Args:
        after: begin behind this entry; what was changed before it is not noticed.
        walked: called with each entry that was found whole.
    """
    previous, seal, entry = FIRST_PREVIOUS_HASH, "", None
    entries = AuditEntry.objects.order_by("pk")
    if after:
        previous, seal, entry = after.entry_hash, after.seal, entries.get(pk=after.number)
        entries = entries.filter(pk__gt=after.number)
    for entry in entries.iterator(chunk_size=ENTRIES_AT_ONCE):
        if problem := _problem(entry, previous, seal):
            yield Finding(entry, problem)
        elif walked:
            walked(entry)
        previous, seal = entry.entry_hash, entry.seal
    chain = AuditChain.objects.filter(pk=1).first()
    last = (entry.pk if entry else 0, previous, seal)
    if (chain.number, chain.head, chain.seal) != last if chain else entry:
        yield Finding(entry, "end")


def row_differences() -> Iterator[Difference]:
    """Rows that are not what the log last says of them."""
    entries = AuditEntry.objects.exclude(rows={}).order_by("pk")
    yield from differences(entries.values_list("pk", "rows").iterator(
        chunk_size=ENTRIES_AT_ONCE))


def _problem(entry: AuditEntry, previous: str, seal: str) -> str:
    if entry_hash(entry) != entry.entry_hash:
        return "changed"
    if entry.previous_hash != previous:
        return "order"
    is_sealed = hmac.compare_digest(entry.seal, entry_seal(seal, entry.entry_hash))
    return "" if is_sealed else "seal"


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")
