"""New keys for old ones; portal and workers stand still meanwhile."""

import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from cryptography.fernet import Fernet
from django.apps import apps
from django.conf import settings
from django.core.management.utils import get_random_secret_key
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.operation.heartbeat import worker_age_seconds
from engagements.audit import archive_files, audit_log, checkpoint
from engagements.audit.problem_labels import LABELS
from engagements.errors import WrongState
from engagements.models import AuditArchive, AuditChain, AuditEntry, User
from workers.encrypted_field import EncryptedTextField

STILL_SECONDS = 30
BATCH = 500


def require_standstill() -> None:
    """Raise WrongState while a worker does tasks: it would go on with the old key."""
    if worker_age_seconds(timezone.now()) < STILL_SECONDS:
        raise WrongState(_("A worker is running. Stop portal and workers, wait half a minute, and "
                           "try again."))


def encrypt_credentials_anew() -> int:
    """Write every credential again under the newest key, in one transaction; how many columns.

    What was encrypted with any key of CREDENTIAL_KEYS (or of the secret keys) can be read.
    """
    count = 0
    with transaction.atomic():
        for table in apps.get_models():
            fields = [field.name for field in table._meta.concrete_fields
                      if isinstance(field, EncryptedTextField)]
            for row in table._base_manager.select_for_update(no_key=True) if fields else ():
                filled = [name for name in fields if getattr(row, name)]
                if filled:
                    table._base_manager.filter(pk=row.pk).update(
                        **{name: getattr(row, name) for name in filled})
                count += len(filled)
    return count


@transaction.atomic
def seal_audit_log_anew(*, actor: User | None, old_key: str) -> int:
    """Check the log under the old audit key, seal every entry under AUDIT_KEY, and add an entry
    that says so; how many entries were sealed.

    Raises WrongState, and changes nothing, where the log is not good under the old key: a new seal
    would hide it.
    """
    AuditChain.objects.select_for_update(no_key=True).filter(pk=1).first()
    _require_good(old_key)
    seal, count = _seal_archives_anew()
    batch = []
    for entry in AuditEntry.objects.order_by("pk").only("pk", "entry_hash").iterator():
        entry.seal = seal = audit_log.entry_seal(seal, entry.entry_hash)
        batch.append(entry)
        count += 1
        if len(batch) == BATCH:
            AuditEntry.objects.bulk_update(batch, ["seal"])
            batch = []
    AuditEntry.objects.bulk_update(batch, ["seal"])
    chain = AuditChain.objects.get(pk=1)
    chain.seal, chain.older_until = seal, None
    audit_log.seal_end(chain)
    chain.save()
    audit_log.record(actor=actor, action="audit.reseal", target=chain, data={"entries": count})
    transaction.on_commit(lambda: checkpoint.begin_anew(checkpoint.end()))
    return count


def _seal_archives_anew() -> tuple[str, int]:
    """The seal of the last archived entry under AUDIT_KEY, and how many there are. Files hold no
    seals: only the rows that name them change."""
    seal, count = "", 0
    for archive in AuditArchive.objects.order_by("first_number"):
        for entry in archive_files.read(archive):
            seal = audit_log.entry_seal(seal, entry.entry_hash)
            count += 1
        AuditArchive.objects.filter(pk=archive.pk).update(seal=seal)
    return seal, count


def _require_good(old_key: str) -> None:
    new_key, settings.AUDIT_KEY = settings.AUDIT_KEY, old_key
    try:
        found = next(audit_log.findings(), None)
    finally:
        settings.AUDIT_KEY = new_key
    if found:
        raise WrongState(_("The audit log is not good under the old key (entry %(place)s: "
                           "%(problem)s); nothing was changed.") % {
            "place": found.place, "problem": LABELS[found.problem]})


def new_secret_key() -> Path | None:
    """A new secret key in the data folder; the old one stays valid for what it signed. None where
    the environment sets the key."""
    return _replaced(Path(settings.VAR_DIR) / "secret-key", "DESK_SECRET_KEY",
                     get_random_secret_key())


def new_audit_key() -> Path | None:
    """The same for the key of the audit log."""
    return _replaced(Path(settings.VAR_DIR) / "audit-key", "DESK_AUDIT_KEY",
                     secrets.token_urlsafe(48))


def new_credential_key() -> str:
    """A key to put first in DESK_CREDENTIAL_KEYS."""
    return Fernet.generate_key().decode()


def _replaced(path: Path, variable: str, key: str) -> Path | None:
    """The file keeps the new key; the old one gets the day's name."""
    if variable in os.environ or f"{variable}_FILE" in os.environ:
        return None
    saved = path.with_name(f"{path.name}-until-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    draft = path.with_name(f"{path.name}.new")
    draft.touch(mode=0o600)
    draft.write_text(key)
    os.link(path, saved)
    draft.replace(path)
    return saved
