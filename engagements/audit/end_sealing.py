"""Gives the log of an older version, whose end has no seal of its own, that seal."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta

from django.apps import apps as current_apps
from django.core.exceptions import FieldDoesNotExist
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models.signals import post_migrate
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engagements.audit import audit_log, checkpoint
from engagements.audit.checkpoint import Checkpoint
from engagements.audit.problem_labels import LABELS
from engagements.errors import WrongState
from engagements.models import AuditChain, AuditEntry

OVERLAP = timedelta(days=1)  # in which processes of the older version may still append
ACTION = "audit.seal_end"


def connect() -> None:
    """Seal the log of an older version after `migrate`."""
    post_migrate.connect(_after_migrations, sender=current_apps.get_app_config("engagements"))


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """`migrate` leaves sealing to the caller: what is backed out leaves no entry that says so."""
    post_migrate.disconnect(_after_migrations,
                            sender=current_apps.get_app_config("engagements"))
    try:
        yield
    finally:
        connect()


def _after_migrations(using: str, stdout=None, apps=current_apps, **_signal) -> None:
    """Says what was done. A log that is not good stays as it is, and every check says so."""
    if using != DEFAULT_DB_ALIAS or not _has_column(apps):
        return
    try:
        sentence = seal_end()
    except WrongState as error:
        sentence = error.message
    if sentence:
        (stdout or sys.stdout).write(f"{sentence}\n")


def _has_column(apps) -> bool:
    """Whether the tables are not those of an older state that was migrated back to."""
    try:
        return bool(apps.get_model("engagements", "AuditChain")._meta.get_field("end_seal"))
    except (LookupError, FieldDoesNotExist):
        return False


def seal_end(*, anew: bool = False, seen: Callable[[], Checkpoint | None] = checkpoint.stored
             ) -> str:
    """Verify a log whose end has no seal, in the way of the older version that wrote it, seal the
    end and add an entry that says so; a sentence, "" where nothing was to do.

    Args:
        anew: somebody answers for an end whose seal is not valid: the tables were migrated back in
            between, or processes of the older version went on for longer than OVERLAP.
        seen: as in `audit_log.findings`.
    Raises:
        WrongState: the log is not good otherwise, or its end had a seal before; nothing is changed.
    """
    chains = AuditChain.objects.filter(pk=1)
    if not (chains if anew else chains.filter(end_seal="")).exists():
        return ""
    walk = _Walk(anew, seen)
    if not walk.finds_unsealed_end():
        return ""
    with transaction.atomic():
        chain = audit_log.locked_chain()
        if not walk.finds_unsealed_end():  # what came meanwhile; somebody else may be quicker
            return ""
        chain.older_until = None if anew else timezone.now() + OVERLAP
        audit_log.seal_end(chain)
        chain.save()
        audit_log.record(actor=None, action=ACTION, target=chain,
                         data={"entries": walk.count, "anew": anew})
    checkpoint.keep(checkpoint.end())
    return ngettext(
        "Audit log: %(n)d entry was verified in the way of the older version; the log's end now "
        "has a seal of its own.",
        "Audit log: %(n)d entries were verified in the way of the older version; the log's end "
        "now has a seal of its own.", walk.count) % {"n": walk.count}


class _Walk:
    """Goes on from where it came to; sees from the entries whether the end had a seal before."""

    def __init__(self, anew: bool, seen: Callable[[], Checkpoint | None]) -> None:
        self.count, self.may_have_been_sealed, self.seen = 0, anew, seen
        self.reached: Checkpoint | None = None

    def __call__(self, entry: AuditEntry) -> None:
        self.count += 1
        self.reached = Checkpoint(entry.pk, entry.entry_hash, entry.seal, "")
        is_sign = entry.action == ACTION or entry.previous_hash == audit_log.FIRST_PREVIOUS_HASH
        if is_sign and not self.may_have_been_sealed:
            raise WrongState(_("The seal of the audit log's end was removed. If you know why, run "
                               "`manage.py seal_audit_log`."))

    def finds_unsealed_end(self) -> bool:
        problem = None
        for found in audit_log.findings(self.reached, self, seen=self.seen):
            problem = found.problem
            if problem != "unsealed":
                raise WrongState(_("The audit log is not good (%(place)s: %(problem)s); its end "
                                   "was not sealed.") % {
                    "place": found.place, "problem": LABELS[problem]})
        return problem is not None
