"""Celery tasks; each calls one service."""

from celery import shared_task
from django.utils import timezone

from delivery.operation import evidence_locks, older_rows, retention, stored_file_checks
from delivery.sign_on.settings import LDAP_URL

LONGEST_SECONDS = 6 * 3600  # one file may take longer to read than a whole turn


@shared_task(name="operation.check_files", time_limit=LONGEST_SECONDS)
def check_files() -> None:
    """Re-read some of the stored files."""
    stored_file_checks.take_turn(now=timezone.now())


@shared_task(name="operation.lock_evidence")
def lock_evidence() -> None:
    """Lock the raw files of documents that were issued."""
    evidence_locks.lock_evidence(now=timezone.now())


@shared_task(name="operation.fill_engagements")
def fill_engagements() -> None:
    """Complete rows that workers of an older version wrote during an upgrade."""
    older_rows.fill_engagements()


@shared_task(name="operation.retention", time_limit=LONGEST_SECONDS)
def apply_retention() -> None:
    """Remove or archive what is older than the settings say."""
    retention.apply_rules(timezone.now())


@shared_task(name="operation.directory_leavers")
def directory_leavers() -> None:
    """End the access of people who left the company's directory."""
    if LDAP_URL:
        from delivery.sign_on.directory_leavers import end_access_of_leavers  # needs ldap3
        end_access_of_leavers()
