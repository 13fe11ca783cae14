"""Files of archived entries: gzip of JSON lines, first the head, then one entry a line.

    {"format": 1, "first": 1, "last": 2, "previous_hash": "000…", "month": "2026-01"}
    {"number": 1, "at": "2026-01-05T08:00:00.000000+00:00", "actor": 7, "action": …, "hash": "…"}

The hash of an entry is over these facts and the hash of the one before it, so that a file can be
checked with nothing but itself; the seals follow from the hashes and AUDIT_KEY.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from engagements.models import AuditArchive, AuditEntry

FORMAT = 1
FOLDER = "audit"  # of the artifact store
CHUNK = 2**20


class ArchiveFault(Exception):
    """An archive's file is `missing`, `changed` (another SHA-256) or `unreadable`."""

    def __init__(self, archive: AuditArchive, problem: str) -> None:
        super().__init__(f"{archive}: {problem}")
        self.archive, self.problem = archive, problem


def write(target: BinaryIO, head: dict[str, Any], entries: Iterable[dict[str, Any]]) -> None:
    """Write a file; the same entries (`audit_log.entry_facts`) make the same bytes."""
    with gzip.GzipFile(fileobj=target, mode="wb", mtime=0, filename="") as packed:
        packed.write(_line({"format": FORMAT, **head}))
        for facts in entries:
            packed.write(_line(facts))


def _line(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode(
        errors="surrogatepass") + b"\n"


def read(archive: AuditArchive, folder: Path | None = None) -> Iterator[AuditEntry]:
    """The entries of an archive, without seals; oldest first, one at a time in memory.

    Args:
        folder: holds a copy of the file under its own name; else the artifact store's is read.

    Raises ArchiveFault, for a changed file at its end at the latest.
    """
    try:
        with _opened(archive, folder) as stream:
            hashed = _Hashed(stream)
            with gzip.GzipFile(fileobj=hashed, mode="rb") as lines:
                previous = json.loads(next(lines))["previous_hash"]
                for line in lines:
                    entry = _entry(json.loads(line), previous)
                    previous = entry.entry_hash
                    yield entry
            while hashed.read(CHUNK):
                pass
    except FileNotFoundError as error:
        raise ArchiveFault(archive, "missing") from error
    except (OSError, EOFError, zlib.error, StopIteration, ValueError, KeyError,
            TypeError) as error:
        raise ArchiveFault(archive, "unreadable") from error
    if hashed.digest.hexdigest() != archive.sha256:
        raise ArchiveFault(archive, "changed")


def _opened(archive: AuditArchive, folder: Path | None) -> BinaryIO:
    if folder is None:
        return archive.file.storage.open(archive.file.name, "rb")
    return (folder / PurePosixPath(archive.file.name).name).open("rb")


class _Hashed:
    """A stream that hashes what is read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.digest = stream, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        self.digest.update(block)
        return block


def _entry(facts: dict[str, Any], previous: str) -> AuditEntry:
    return AuditEntry(
        pk=facts["number"], at=datetime.fromisoformat(facts["at"]), actor_id=facts["actor"],
        action=facts["action"], target_type=facts["target_type"], target_id=facts["target_id"],
        target_label=facts["target_label"], engagement_id=facts["engagement"],
        data=facts["data"], rows=facts["rows"], previous_hash=previous,
        entry_hash=facts["hash"])
