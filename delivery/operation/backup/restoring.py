"""Checks a backup, and brings one into an empty installation."""

import contextlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import connection
from django.utils.translation import gettext as _

from delivery.operation.backup import database_dump
from delivery.operation.backup.blobs import BlobFolder, file_hash
from delivery.operation.backup.faults import Fault, audit_log_faults
from delivery.operation.backup.keys import has_the_keys
from delivery.operation.backup.stored_files import LOG, logs_folder
from delivery.operation.backup.writing import FORMAT, MANIFEST, listed, seal
from engagements.audit import audit_log, checkpoint, end_sealing, published_heads
from engagements.audit.archive_files import ArchiveFault
from engagements.audit.checkpoint import Checkpoint
from engagements.errors import InvalidInput, WrongState
from engagements.models import AuditChain
from engagements.text.text_joining import in_turn


@dataclass
class Checked:
    """`faults`: what is damaged. `is_sealed`: made by an installation with this one's audit key.
    `lost_after`: an entry that this installation had seen and the backup's audit log ends before.
    """

    manifest: dict
    is_sealed: bool
    files: int = 0
    lost_after: Checkpoint | None = None
    faults: list[Fault] = field(default_factory=list)


def chosen_backup(root: Path, name: str = "") -> Path:
    """The folder of a backup, the newest if none is named; InvalidInput where there is none."""
    found = sorted(path for path in (root / "backups").glob("[0-9]*") if path.is_dir())
    if name:
        found = [path for path in found if path.name == name]
    if not found:
        raise InvalidInput((_("%(folder)s holds no backup %(name)s.") if name
                            else _("%(folder)s holds no backup.")) % {"folder": root, "name": name})
    return found[-1]


def check_backup(root: Path, backup: Path) -> Checked:
    """Read every byte of a backup again and compare it with the hashes of the manifest.

    Raises InvalidInput for a manifest that cannot be read or is of a newer format.
    """
    manifest = _manifest(backup)
    facts = {name: value for name, value in manifest.items() if name != "seal"}
    checked = Checked(manifest, is_sealed=seal(facts) == manifest["seal"])
    for name, digest in manifest["sha256"].items():
        if file_hash(backup / name) != digest:
            checked.faults.append(Fault("other_part", name=name))
    if not checked.faults:
        digests = [digest for _kind, _name, digest, _size in listed(backup)]
        checked.files = len(digests)
        if checked.files != manifest["files"]:
            checked.faults.append(Fault("file_count", found=checked.files,
                                        stated=manifest["files"]))
        checked.faults += [Fault("damaged_file", digest=digest)
                           for digest in BlobFolder(root).damaged(set(digests))]
    return checked


def restore_backup(root: Path, backup: Path) -> Checked:
    """Bring a backup into this installation, then migrate it and check it.

    The rows are loaded in one transaction into the tables of the backup's version. Either database
    takes what the other gave. Jobs that ran on nodes go on: their rows say where to look.

    Returns:
        the check; `faults` also names files that came out differently, tables with another number
        of rows, and findings in the audit log.
    Raises:
        WrongState: there is something here already.
        InvalidInput: the backup is damaged, of another audit key, or its credentials are
            encrypted with other keys; nothing has been written then.
    """
    _require_empty()
    checked = check_backup(root, backup)
    _require_usable(checked)
    counts = database_dump.load(backup / "database.jsonl.gz")
    with end_sealing.put_off():
        call_command("migrate", verbosity=0, interactive=False)
    checked.faults += [Fault("row_count", table=label, found=counts.get(label, 0), stated=count)
                       for label, count in checked.manifest["rows"].items()
                       if counts.get(label, 0) != count]
    checked.faults += _put_files(root, backup)
    _check_log(checked)
    return checked


def _check_log(checked: Checked) -> None:
    """Seal the log's end where an older version wrote it, check the log, and go on from there: what
    this installation had seen of it before was another state of the database."""
    with contextlib.suppress(WrongState):  # a log that is not good shows among the faults
        end_sealing.seal_end(seen=_nothing_seen)
    faults = _audit_faults()
    checked.faults += faults
    if faults:
        return
    seen, end = published_heads.newest_seen(), checkpoint.end()
    if seen and seen.number > end.number:
        checked.lost_after = seen
        audit_log.record(actor=None, action=published_heads.RESTORED,
                         target=AuditChain.objects.get(pk=1),
                         data={"seen": seen.number, "seen_at": seen.at, "hash": seen.entry_hash})
        end = checkpoint.end()
    checkpoint.begin_anew(end)


def _nothing_seen() -> None:
    return None


def _audit_faults() -> list[Fault]:
    """What is wrong with the audit log, archives included, and with the rows that it tells of."""
    faults = audit_log_faults(audit_log.findings(seen=_nothing_seen))
    with contextlib.suppress(ArchiveFault):  # it stands among the findings
        faults += [Fault("audited_row", table=found.table._meta.label, key=found.key,
                         problem=found.problem)
                   for found in audit_log.row_differences()]
    return faults


def _manifest(backup: Path) -> dict:
    try:
        found = json.loads((backup / MANIFEST).read_text())
        newer = found["format"] > FORMAT
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(_("%(path)s cannot be read: %(cause)s") % {
            "path": backup / MANIFEST, "cause": error}) from error
    if newer:
        raise InvalidInput(_("%(path)s was made by a newer version (%(version)s).") % {
            "path": backup, "version": found["version"]})
    return found


def _require_empty() -> None:
    tables = connection.introspection.table_names()
    if "engagements_user" in tables:
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM engagements_user")
            if cursor.fetchone()[0]:
                raise WrongState(_("This installation is not empty; a backup is restored into a "
                                   "new database only."))


def _require_usable(checked: Checked) -> None:
    if checked.faults:
        raise InvalidInput(_("The backup is damaged: %(faults)s") % {
            "faults": in_turn(checked.faults[:5])})
    if not has_the_keys(checked.manifest["key_probe"]):
        raise InvalidInput(_("The credentials in this backup were encrypted with other keys: run "
                             "`manage.py restore_keys FILE` first, or set DESK_SECRET_KEY and "
                             "DESK_CREDENTIAL_KEYS as they were."))
    if not checked.is_sealed:
        raise InvalidInput(_("The backup was sealed with another audit key, or changed: run "
                             "`manage.py restore_keys FILE` first, or set DESK_AUDIT_KEY as it "
                             "was."))


def _put_files(root: Path, backup: Path) -> list[Fault]:
    """Write the files to the artifact store and read each once more; what went wrong."""
    blobs, faults = BlobFolder(root), []
    for kind, name, digest, _size in listed(backup):
        with blobs.path(digest).open("rb") as stream:
            if kind == LOG:
                logs_folder().mkdir(parents=True, exist_ok=True)
                (logs_folder() / Path(name).name).write_bytes(stream.read())
                continue
            if default_storage.exists(name):
                default_storage.delete(name)
            stored = default_storage.save(name, File(stream))
        if stored != name or _stored_hash(name) != digest:
            faults.append(Fault("came_out_differently", name=name))
    return faults


def _stored_hash(name: str) -> str:
    import hashlib

    with default_storage.open(name, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def data_folder() -> Path:
    """Where keys of a new installation go."""
    return Path(settings.VAR_DIR)
