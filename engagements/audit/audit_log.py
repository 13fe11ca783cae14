"""The append-only, hash-chained audit log (DOMAIN AR-12).

The log's end has a seal of its own, which tells that the newest entries were removed: each entry's
own seal stays in the table, so it cannot stand for the end; who removes the entries behind it by
SQL would only have to copy it into the chain's row. The end's seal is over other content, and only
that of the end that is there now is kept. A log of an older version has none until `end_sealing`
has verified it. While an upgrade goes on processes of that version append entries without it; until
`older_until` these may follow the entry that was sealed last.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from bundle_verifier.canonical import canonical, content_hash
from bundle_verifier.log_extract import HASHED
from engagements.audit import archive_files, published_heads
from engagements.audit.archive_files import ArchiveFault
from engagements.audit.checkpoint import Checkpoint
from engagements.audit.row_comparison import Difference, Gap, differences
from engagements.audit_rows.tracking import (
    PendingWrite,
    mark_collected,
    pending_writes,
    register_recorder,
    rows_of,
)
from engagements.decisions import require_decider
from engagements.errors import NotAllowed
from engagements.log_context import request_number
from engagements.models import AuditArchive, AuditChain, AuditEntry, Engagement, User
from toolreaders.masking import mask_text, masked_texts

# What somebody who only reads writes all the same: about their own account, and what they read.
AUDITORS_OWN = ("user.", "token.", "notices.", "person.accept_invitation", "file.download")
PURPOSE = "end of the audit log"  # an entry's seal is over hexadecimal digits alone
FIRST_PREVIOUS_HASH = hashlib.sha256(PURPOSE.encode()).hexdigest()  # of a log sealed from the first
OLDER_FIRST_PREVIOUS_HASH = "0" * 64  # of a log that an older version began
ENTRIES_AT_ONCE = 500  # in memory while the log is walked

Step = tuple[AuditEntry, AuditArchive | None]  # the archive that the entry lies in


def record(
    *,
    actor: User | None,
    action: str,
    target: models.Model,
    engagement: Engagement | None = None,
    data: dict | None = None,
    written: list[PendingWrite] | None = None,
) -> AuditEntry:
    """Append one entry. Call it inside the transaction of the write it describes, after the write:
    it holds the rows written so far (see `audit_rows.tracking`).

    Args:
        actor: who did it; None for the system itself.
        action: `object.verb`, for example `stage.pass`.
        target: the row that was written.
        data: JSON-able facts; never secrets.
        written: the writes that the entry holds; otherwise all that no entry holds yet.
    Raises:
        NotAllowed: an auditor would change something; whatever right let them come so far.
        PersonDecides, SignInTooOld: see `engagements.decisions`.
    """
    if actor is not None and actor.is_auditor and not action.startswith(AUDITORS_OWN):
        raise NotAllowed(_("An auditor reads, and changes nothing."))
    if actor is not None:
        require_decider(actor, action)
        data = {**(data or {}), **_marks(actor)}
    with transaction.atomic(savepoint=False):
        written = pending_writes() if written is None else written
        # Before the chain is locked: everybody who writes waits for it until this one commits.
        entry = AuditEntry(
            actor=actor, action=action,
            target_type=target._meta.label_lower, target_id=str(target.pk),
            target_label=_label(target), engagement=engagement,
            data=masked_texts(json.loads(json.dumps(data or {}, cls=DjangoJSONEncoder))),
            rows=rows_of(written),
        )
        entry.target = target  # who listens for entries need not read it again
        link(locked_chain(), entry)
        mark_collected(written)
    return entry


def _marks(actor: User) -> dict:
    """With which token, for which agent and in which request somebody acted; of a page nothing."""
    if not actor.token:
        return {}
    agent = {"agent": actor.agent.pk, "agent_name": actor.agent.name} if actor.agent else {}
    return {"by": {"token": str(actor.token), "request": request_number(), **agent}}


def link(chain: AuditChain, entry: AuditEntry) -> None:
    """Make the entry the end of the locked chain, and save both; rows of migrations' models, too.

    An end that is not sealed stays so: a new seal would hide what was removed before.
    """
    is_sealed = hasattr(chain, "end_seal") and is_end_sealed(chain)  # models before 0019
    chain.number += 1
    entry.pk, entry.at, entry.previous_hash = chain.number, timezone.now(), chain.head
    entry.entry_hash = chain.head = entry_hash(entry)
    entry.seal = chain.seal = entry_seal(chain.seal, entry.entry_hash)
    if is_sealed:
        seal_end(chain)
    chain.save(force_update=True)
    entry.save(force_insert=True)


register_recorder(record)


def _label(target: models.Model) -> str:
    """The row's name; a deleted row may depend on others that are gone."""
    try:
        return mask_text(str(target))[:240]
    except ObjectDoesNotExist:
        return ""


def locked_chain() -> AuditChain:
    """The chain's row, made where there is none; nobody else appends meanwhile."""
    locked = AuditChain.objects.select_for_update(of=("self",), no_key=True)
    chain = locked.filter(pk=1).first()
    if chain is None:
        AuditChain.objects.get_or_create(pk=1, defaults=new_chain())
        chain = locked.get(pk=1)
    return chain


def entry_hash(entry: AuditEntry) -> str:
    """SHA-256 over the previous hash and the entry's own facts, its number among them."""
    facts = {**entry_facts(entry), "previous_hash": entry.previous_hash}
    return content_hash([facts[name] for name in HASHED])


def entry_facts(entry: AuditEntry) -> dict[str, Any]:
    """An entry as files hold it; rows of migrations' models, too."""
    return {"number": entry.pk, "actor": entry.actor_id, "action": entry.action,
            "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
            "target_type": entry.target_type, "target_id": entry.target_id,
            "target_label": entry.target_label,
            "engagement": entry.engagement_id, "data": entry.data, "rows": entry.rows,
            "hash": entry.entry_hash}


def entry_seal(previous: str, digest: str) -> str:
    """HMAC-SHA256 under AUDIT_KEY, which the database does not hold: write access to the database
    alone is not enough to make another chain."""
    key = settings.AUDIT_KEY.encode()
    return hmac.new(key, f"{previous}{digest}".encode(), hashlib.sha256).hexdigest()


def new_chain() -> dict:
    """The columns of a chain without entries."""
    chain = AuditChain(head=FIRST_PREVIOUS_HASH)
    seal_end(chain)
    return {"head": chain.head, "end_seal": chain.end_seal}


def seal_end(chain: AuditChain) -> None:
    """Make the chain's newest entry its sealed end; the caller saves the row."""
    chain.end_number = chain.number
    chain.end_seal = _end_seal(chain, chain.head, chain.seal)


def is_end_sealed(chain: AuditChain) -> bool:
    """Whether the chain's end is the entry that was sealed, or one that an older version wrote
    behind it in time."""
    head, last_seal = chain.head, chain.seal
    if chain.end_number < chain.number and chain.older_until:
        sealed, last = (AuditEntry.objects.filter(pk=number).first()
                        for number in (chain.end_number, chain.number))
        if not (sealed and last and last.at < chain.older_until):
            return False
        head, last_seal = sealed.entry_hash, sealed.seal
    elif chain.end_number != chain.number:
        return False
    return hmac.compare_digest(chain.end_seal, _end_seal(chain, head, last_seal))


def _end_seal(chain: AuditChain, head: str, last_seal: str) -> str:
    """HMAC-SHA256 under AUDIT_KEY of the entry `end_number`, which has this hash and seal."""
    until = chain.older_until and chain.older_until.isoformat()
    facts = canonical([chain.end_number, head, last_seal, until])
    return hmac.new(settings.AUDIT_KEY.encode(), f"{PURPOSE}\n{facts}".encode(),
                    hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Finding:
    """An entry at which the log is not what the application wrote.

    `problem`: changed (its facts), order (an entry before it is missing, added or moved), seal
    (hashes were made anew without the key), end (the newest entries are missing or added), unsealed
    (the end has no valid seal of its own); of an `archive` whose file is not what its row says:
    missing, unreadable, changed; of the entry that an earlier walk has `seen`: cut (the log ends
    before it), replaced (another one is in its place).
    `entry` is None where nothing is left to name.
    """

    entry: AuditEntry | None
    problem: str
    archive: AuditArchive | None = None
    seen: Checkpoint | None = None

    @property
    def place(self) -> str:
        """The archive's name, or the entry's number; 0 where none is left."""
        if self.seen:
            return str(self.seen.number)
        return str(self.archive or (self.entry.pk if self.entry else 0))


def entries_after(number: int, folder: Path | None = None) -> Iterator[Step]:
    """The entries behind a number, oldest first: those of archives, then those in the table.

    Args:
        folder: with copies of the archives' files; else they are read from the artifact store.

    Raises ArchiveFault where a file is not what its row says.
    """
    while archive := AuditArchive.objects.filter(
            first_number__lte=number + 1, last_number__gt=number).first():
        for entry in archive_files.read(archive, folder):
            if entry.pk > number:
                yield entry, archive
        number = archive.last_number
    for entry in AuditEntry.objects.filter(pk__gt=number).order_by("pk").iterator(
            chunk_size=ENTRIES_AT_ONCE):
        if entry.pk != number + 1 and AuditArchive.objects.filter(first_number=number + 1).exists():
            yield from entries_after(number, folder)  # archived meanwhile
            return
        yield entry, None
        number = entry.pk


class _Walk:
    """Walks the log and remembers the end of what it has seen."""

    def __init__(self, after: Checkpoint | None, seen: Checkpoint | None = None) -> None:
        self.seen = seen
        self.number, self.previous, self.seal = 0, FIRST_PREVIOUS_HASH, ""
        self.entry: AuditEntry | None = None
        if after:
            self.number, self.previous, self.seal = after.number, after.entry_hash, after.seal
            self.entry = AuditEntry.objects.filter(pk=after.number).first()

    def findings(self, steps: Iterator[Step], walked: Callable[[AuditEntry], None]
                 ) -> Iterator[Finding]:
        for entry, archive in steps:
            if not self.number and entry.previous_hash == OLDER_FIRST_PREVIOUS_HASH:
                self.previous = OLDER_FIRST_PREVIOUS_HASH
            if archive:
                entry.seal = entry_seal(self.seal, entry.entry_hash)
            problem = _problem(entry, self.previous, self.seal)
            if archive and entry.pk == archive.first_number and not problem:
                problem = "" if archive.previous_hash == self.previous else "order"
            self._step_to(entry)
            if not problem and archive and entry.pk == archive.last_number:
                problem = self._problem_of_end(archive)
            if problem:
                yield Finding(entry, problem)
            elif self.seen and entry.pk == self.seen.number and (
                    entry.entry_hash != self.seen.entry_hash):
                yield Finding(entry, "replaced", seen=self.seen)
            else:
                walked(entry)

    def _step_to(self, entry: AuditEntry) -> None:
        self.entry, self.number = entry, entry.pk
        self.previous, self.seal = entry.entry_hash, entry.seal

    def _problem_of_end(self, archive: AuditArchive) -> str:
        if self.previous != archive.last_hash:
            return "changed"
        return "" if hmac.compare_digest(self.seal, archive.seal) else "seal"

    def skip(self, archive: AuditArchive) -> None:
        """Go on behind an archive that cannot be read."""
        self.entry, self.number = None, archive.last_number
        self.previous, self.seal = archive.last_hash, archive.seal

    def has_passed(self, archive: AuditArchive) -> bool:
        return self.number >= archive.last_number

    def problem_at_end(self) -> str:
        """What is wrong with the chain's row, which says where the log ends."""
        chain = AuditChain.objects.filter(pk=1).first()
        if chain is None:
            return "end" if self.number else ""
        if (chain.number, chain.head, chain.seal) != (self.number, self.previous, self.seal):
            return "end"
        return "" if is_end_sealed(chain) else "unsealed"


def findings(after: Checkpoint | None = None, walked: Callable[[AuditEntry], None] | None = None,
             folder: Path | None = None,
             seen: Callable[[], Checkpoint | None] = published_heads.newest_seen
             ) -> Iterator[Finding]:
    """Verify the log, archives and table, oldest entry first; nothing if it is what the
    application wrote.

    Args:
        after: begin behind this entry; what was changed before it is not noticed.
        walked: called with each entry that was found whole.
        folder: with copies of the archives' files; else they are read from the artifact store.
        seen: gives the newest entry that an earlier walk has reached or that was published: the
            log still holds it.
    """
    walk = _Walk(after, seen())
    while True:
        try:
            yield from walk.findings(entries_after(walk.number, folder), walked or _ignored)
        except ArchiveFault as fault:
            yield Finding(None, fault.problem, fault.archive)
            if not walk.has_passed(fault.archive):
                walk.skip(fault.archive)
            continue
        problem = walk.problem_at_end()
        if not problem or not AuditEntry.objects.filter(pk__gt=walk.number).exists():
            break  # else entries were appended meanwhile
    if problem:
        yield Finding(walk.entry, problem)
    if walk.seen and walk.number < walk.seen.number:
        yield Finding(walk.entry, "cut", seen=walk.seen)


def check_archive(archive: AuditArchive, after: Checkpoint | None) -> Finding | None:
    """The first place at which an archive's file is not what the application wrote; the row need
    not be saved.

    Args:
        after: the entry before its first one.
    """
    walk = _Walk(after)
    try:
        steps = ((entry, archive) for entry in archive_files.read(archive))
        found = next(walk.findings(steps, _ignored), None)
    except ArchiveFault as fault:
        return Finding(None, fault.problem, archive)
    is_whole = walk.has_passed(archive) or found
    return found if is_whole else Finding(walk.entry, "changed", archive)


def _ignored(_entry: AuditEntry) -> None:
    pass


def row_differences(folder: Path | None = None, gap: Callable[[Gap], None] | None = None
                    ) -> Iterator[Difference]:
    """Rows that are not what the log last says of them.

    Args:
        folder: with copies of the archives' files; else they are read from the artifact store.
        gap: called with numbers that were given to no row that table or log know.

    Raises ArchiveFault where an archive cannot be read: nothing can be said of rows then.
    """
    entries = ((entry.pk, entry.rows) for entry, _archive in entries_after(0, folder) if entry.rows)
    yield from differences(entries, gap)


def hashes_of(numbers: Collection[int], folder: Path | None = None) -> dict[int, str]:
    """The hashes of entries by their number. Raises ArchiveFault."""
    found = dict(AuditEntry.objects.filter(pk__in=numbers).values_list("pk", "entry_hash"))
    for archive in _archives_of(set(numbers) - found.keys()):
        found.update((entry.pk, entry.entry_hash) for entry in archive_files.read(archive, folder)
                     if entry.pk in numbers)
    return found


def archived_entries(engagement: Engagement, fits: Callable[[AuditEntry], bool]
                     ) -> list[AuditEntry]:
    """Entries of an engagement that lie in archives, oldest first; each of their files is read.
    Raises ArchiveFault."""
    return [entry for archive in AuditArchive.objects.of(engagement)
            for entry in archive_files.read(archive)
            if entry.engagement_id == engagement.pk and fits(entry)]


def _archives_of(numbers: Collection[int]) -> list[AuditArchive]:
    archives = AuditArchive.objects.order_by("first_number") if numbers else ()
    return [archive for archive in archives
            if any(archive.first_number <= number <= archive.last_number for number in numbers)]


def _problem(entry: AuditEntry, previous: str, seal: str) -> str:
    if entry_hash(entry) != entry.entry_hash:
        return "changed"
    if entry.previous_hash != previous:
        return "order"
    is_sealed = hmac.compare_digest(entry.seal, entry_seal(seal, entry.entry_hash))
    return "" if is_sealed else "seal"
