"""Writes a backup while the desk runs."""

import contextlib
import gzip
import hashlib
import hmac
import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from bundle_verifier.canonical import canonical
from delivery.operation.backup import database_dump
from delivery.operation.backup.blobs import BlobFolder, file_hash
from delivery.operation.backup.faults import Fault, audit_log_faults
from delivery.operation.backup.keys import key_probe
from delivery.operation.backup.stored_files import StoredFile, stored_files
from engagements.audit import audit_log, checkpoint

FORMAT = 1
DATABASE, FILES, MANIFEST = "database.jsonl.gz", "files.jsonl.gz", "manifest.json"


@dataclass
class Outcome:
    """What a backup holds, and what was wrong with what it should hold."""

    folder: Path
    rows: int = 0
    files: int = 0
    copied: int = 0
    copied_bytes: int = 0
    faults: list[Fault] = field(default_factory=list)


@contextlib.contextmanager
def snapshot() -> Iterator[None]:
    """All reads inside see one moment; nobody who writes has to wait."""
    if connection.in_atomic_block:  # the caller's transaction already is one
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        connection.ensure_connection()
        connection.connection.execute("BEGIN DEFERRED")  # Django's own would block writers
        try:
            yield
        finally:
            connection.connection.execute("ROLLBACK")


def write_backup(root: Path, *, check_audit: bool = True) -> Outcome:
    """Add a backup to a folder: rows of one moment, and the files that they name.

    Files that an earlier backup of the folder holds are not copied again. The backup appears under
    its name when it is whole.

    Returns:
        its figures; `faults` names files that are missing or have another hash than their row
        says, and findings in the audit log. They do not keep the rest from being saved.
    """
    while (root / "backups" / (name := timezone.now().strftime("%Y%m%dT%H%M%SZ"))).exists():
        time.sleep(0.1)  # the one before was written within the same second
    draft = root / "backups" / f".{name}.part"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True, mode=0o700)
    outcome = Outcome(root / "backups" / name)
    seen = checkpoint.stored()  # before the snapshot, which holds whatever was seen by then
    with snapshot():
        counts = database_dump.dump(draft / DATABASE)
        outcome.rows = sum(counts.values())
        _write_files(draft / FILES, stored_files(), BlobFolder(root), outcome)
        if check_audit:
            outcome.faults += audit_log_faults(audit_log.findings(
                checkpoint.behind_archives(), seen=lambda: seen))
    _write_manifest(draft, counts, outcome)
    _sync(draft)
    draft.rename(outcome.folder)
    note = Path(settings.VAR_DIR) / "last-backup"
    note.write_text(f"{outcome.folder}\n")
    return outcome


def _write_files(path: Path, files: Iterator[StoredFile], blobs: BlobFolder, outcome: Outcome
                 ) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        for file in files:
            try:
                digest, size = _stored_blob(file, blobs, outcome)
            except OSError as error:
                outcome.faults.append(Fault("unreadable", name=file.name, cause=str(error)))
                continue
            if file.sha256 and digest != file.sha256:
                outcome.faults.append(Fault("other_hash", name=file.name, found=digest,
                                            stated=file.sha256))
            outcome.files += 1
            lines.write(json.dumps([file.kind, file.name, digest, size],
                                   ensure_ascii=False) + "\n")


def _stored_blob(file: StoredFile, blobs: BlobFolder, outcome: Outcome) -> tuple[str, int]:
    if file.size is not None and blobs.holds(file.sha256, file.size):
        return file.sha256, file.size
    with file.open() as stream:
        digest, size = blobs.add(stream)
    outcome.copied += 1
    outcome.copied_bytes += size
    return digest, size


def _write_manifest(draft: Path, counts: dict[str, int], outcome: Outcome) -> None:
    facts = {"format": FORMAT, "version": settings.VERSION, "vendor": connection.vendor,
             "made_at": timezone.now().isoformat(), "rows": counts, "files": outcome.files,
             "sha256": {name: file_hash(draft / name) for name in (DATABASE, FILES)},
             "faults": [fault.as_json() for fault in outcome.faults], "key_probe": key_probe()}
    (draft / MANIFEST).write_text(json.dumps({**facts, "seal": seal(facts)}, indent=1,
                                             ensure_ascii=False) + "\n")


def seal(facts: dict) -> str:
    """HMAC-SHA256 under AUDIT_KEY: who can only write to the backup cannot make another one."""
    text = canonical(facts).encode()
    return hmac.new(settings.AUDIT_KEY.encode(), text, hashlib.sha256).hexdigest()


def remove_old(root: Path, keep: int) -> int:
    """Remove all but the newest so many backups and the files of none; how many backups."""
    found = sorted(path for path in (root / "backups").glob("[0-9]*") if path.is_dir())
    for path in found[:-keep]:
        shutil.rmtree(path)
    wanted = {digest for path in found[-keep:] for _kind, _name, digest, _size in listed(path)}
    BlobFolder(root).remove_all_but(wanted)
    return len(found[:-keep])


def listed(backup: Path) -> Iterator[tuple[str, str, str, int]]:
    """Kind, name, SHA-256 and size of each file of a backup."""
    with gzip.open(backup / FILES, "rt", encoding="utf-8") as lines:
        for line in lines:
            kind, name, digest, size = json.loads(line)
            yield kind, name, digest, size


def _sync(folder: Path) -> None:
    for path in [*folder.iterdir(), folder]:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
