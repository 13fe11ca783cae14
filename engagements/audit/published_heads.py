"""Heads of the log that lie outside of the database: small files in the artifact store, with the
firm's signature and time stamp where these are set, and under an object lock where there is one.

A head says that the log had so many entries, the hash of the last one, and the root of the Merkle
tree over all (`bundle_verifier.log_extract`). `delivery.operation.audit_heads` publishes them.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from bundle_verifier.log_extract import subtree
from engagements.audit import archive_files, checkpoint
from engagements.audit.checkpoint import Checkpoint
from engagements.errors import WrongState
from engagements.models import AuditArchive, AuditChain, AuditEntry

FOLDER = f"{archive_files.FOLDER}/heads"
NAME = re.compile(r"audit-head-(\d+)\.json")
RESTORED = "audit.restore"  # the entry of a restore, which answers for heads that were lost by it
HASH_BYTES = 32
UNKNOWN = "1970-01-01T00:00:00+00:00"


@dataclass(frozen=True)
class Head:
    """The log's newest entry when it was published, and that entry's ISO time."""

    number: int
    hash: str
    root: str
    at: str

    @property
    def is_answered_for(self) -> bool:
        """Whether an older state was restored since, by an entry of today's log."""
        return AuditEntry.objects.filter(action=RESTORED,
                                         at__gte=datetime.fromisoformat(self.at)).exists()


class Tree:
    """The hashes of all entries up to the end of the log, read once: 32 bytes each in memory."""

    def __init__(self) -> None:
        """Raises WrongState where entries are missing, ArchiveFault for an archive's file."""
        chain = AuditChain.objects.get(pk=1)
        self.number, self.hash, hashes = chain.number, chain.head, bytearray()
        newest = AuditEntry.objects.filter(pk=chain.number).first()
        self.at = newest.at.astimezone(UTC).isoformat() if newest else UNKNOWN
        for archive in AuditArchive.objects.order_by("first_number"):
            for entry in archive_files.read(archive):
                hashes += bytes.fromhex(entry.entry_hash)
        rows = AuditEntry.objects.filter(pk__lte=self.number).order_by("pk")
        for digest in rows.values_list("entry_hash", flat=True).iterator():
            hashes += bytes.fromhex(digest)
        if len(hashes) != HASH_BYTES * self.number:
            raise WrongState(_("Entries of the audit log are missing; `manage.py verify --audit` "
                               "names the place."))
        self._hashes = bytes(hashes)

    def head(self) -> Head:
        return Head(self.number, self.hash, self.subtree(0, self.number).hex(), self.at)

    def subtree(self, first: int, behind: int) -> bytes:
        """As `bundle_verifier.log_extract.tree_root` asks for it."""
        return subtree(first, behind, self._hash_of, range(self.number), self.subtree)

    def _hash_of(self, place: int) -> str:
        return self._hashes[HASH_BYTES * place:HASH_BYTES * (place + 1)].hex()


def as_bytes(head: Head) -> bytes:
    """The file, over which a signature is made."""
    return json.dumps({"format": 1, **asdict(head)}, sort_keys=True).encode() + b"\n"


def keep(head: Head, **proofs: bytes) -> str:
    """Store a head and its proofs by the ends of their names; the name of its file."""
    name = f"{FOLDER}/audit-head-{head.number}"
    for end, content in {**proofs, "json": as_bytes(head)}.items():
        if not default_storage.exists(f"{name}.{end}"):
            default_storage.save(f"{name}.{end}", ContentFile(content))
    return f"{name}.json"


def stored() -> Iterator[Head]:
    """The published heads, the newest first; a file that cannot be read has the number alone."""
    for number in sorted(map(int, filter(None, map(_number, _names()))), reverse=True):
        head = Head(number, "", "", UNKNOWN)
        with (contextlib.suppress(OSError, ValueError, KeyError, TypeError),
              default_storage.open(f"{FOLDER}/audit-head-{number}.json") as file):
            facts = json.loads(file.read())
            head = Head(number, facts["hash"], facts["root"], facts["at"])
            datetime.fromisoformat(head.at)
        yield head


def _names() -> list[str]:
    try:
        return default_storage.listdir(FOLDER)[1]
    except FileNotFoundError:
        return []


def _number(name: str) -> str:
    found = NAME.fullmatch(name)
    return found[1] if found else ""


def newest_seen() -> Checkpoint | None:
    """The newest entry that a walk of this installation reached or that was published, whether or
    not the log holds it."""
    walked = checkpoint.stored()
    published = next((head for head in stored() if not head.is_answered_for), None)
    if published is None or (walked and walked.number >= published.number):
        return walked
    return Checkpoint(published.number, published.hash, "", published.at)


def forget() -> None:
    """Remove the heads: the database was emptied, and its log begins anew."""
    for name in _names():
        default_storage.delete(f"{FOLDER}/{name}")
