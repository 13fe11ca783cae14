"""From the tables of an older version to those of this code, and back where that fails."""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.operation import readiness
from delivery.operation.backup.count_texts import new_files_text, rows_text
from delivery.operation.backup.writing import Outcome, write_backup
from engagements.audit import end_sealing
from engagements.errors import WrongState
from engagements.text.text_joining import in_turn, labelled

STOP_SECONDS = 60
Say = Callable[[str], None]


def upgrade(*, backups: Path, say: Say) -> None:
    """Backup, migrations, checks. The older version may go on working meanwhile: migrations are
    additive within a minor version.

    Raises WrongState with what went wrong; the tables are those of the older version then, or the
    sentence says which backup to restore.
    """
    missing = readiness.missing_migrations()
    say(ngettext("%(n)d migration to apply", "%(n)d migrations to apply", len(missing)) % {
        "n": len(missing)})
    outcome = _backup(backups, check_audit=not missing)
    say(_("backup %(folder)s: %(rows)s, %(files)s") % {
        "folder": outcome.folder, "rows": rows_text(outcome.rows),
        "files": new_files_text(outcome.copied)})
    if outcome.faults:
        raise WrongState(_("The backup found faults, so nothing was changed: %(faults)s") % {
            "faults": in_turn(outcome.faults[:5])})
    before = _applied_leaves()
    try:
        with end_sealing.put_off():
            call_command("migrate", verbosity=0, interactive=False)
        _require_sound()
    except Exception as error:  # whatever a migration raises
        _back_out(before, outcome, error)
    say(_("migrated; database, broker, cache and artifact store work"))
    try:
        sentence = end_sealing.seal_end()
    except WrongState as error:  # the tables are good; each check of the log says the same
        sentence = error.message
    if sentence:
        say(sentence)


def _backup(folder: Path, *, check_audit: bool) -> Outcome:
    try:
        return write_backup(folder, check_audit=check_audit)
    except OSError as error:
        raise WrongState(_("The backup cannot be written, so nothing was changed: %(cause)s") % {
            "cause": error}) from error


def _require_sound() -> None:
    failed = readiness.failures()
    if failed:
        raise WrongState(in_turn(labelled(readiness.LABELS[name], fault)
                                 for name, fault in failed.items()))


def _applied_leaves() -> list[tuple[str, str | None]]:
    """Per app the newest migration that the database has had; None where it has had none."""
    executor = MigrationExecutor(connection)
    applied = set(executor.loader.applied_migrations)
    graph = executor.loader.graph
    leaves = []
    for app in sorted({app for app, _name in graph.nodes}):
        own = [node for node in applied if node[0] == app and node in graph.nodes]
        last = [node for node in own if not any(
            child.key in applied and child.key[0] == app
            for child in graph.node_map[node].children)]
        leaves += last or [(app, None)]
    return leaves


def _back_out(before: list[tuple[str, str | None]], outcome: Outcome, error: Exception) -> None:
    why = readiness.cause(error)
    try:
        executor = MigrationExecutor(connection)
        executor.migrate(before)
    except Exception as second:  # a migration that cannot be taken back
        raise WrongState(_(
            "The upgrade failed (%(cause)s) and could not be taken back (%(second)s). Stop "
            "everything and restore the backup %(name)s with the older version: manage.py restore "
            "%(folder)s") % {"cause": why, "second": second, "name": outcome.folder.name,
                             "folder": outcome.folder.parent.parent}) from error
    raise WrongState(_("The upgrade failed and was taken back: %(cause)s") % {
        "cause": why}) from error


def stop_running() -> bool:
    """Ask a running `up` of this data folder to end, and wait for it; whether there was one.

    Jobs on nodes go on meanwhile. Raises WrongState where it does not end.
    """
    note = Path(settings.VAR_DIR) / "up.pid"
    if not note.exists():
        return False
    number = int(note.read_text())
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while note.exists() and _lives(number):
        if time.monotonic() > deadline:
            raise WrongState(_("The running desk (process %(number)d) does not end.") % {
                "number": number})
        time.sleep(0.2)
    return True


def _lives(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
