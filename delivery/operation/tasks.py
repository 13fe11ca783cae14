"""Celery tasks; each calls one service."""

from celery import shared_task
from django.utils import timezone

from delivery.operation import evidence_locks, stored_file_checks

LONGEST_SECONDS = 6 * 3600  # one file may take longer to read than a whole turn


@shared_task(name="operation.check_files", time_limit=LONGEST_SECONDS)
def check_files() -> None:
    """Re-read some of the stored files."""
    stored_file_checks.take_turn(now=timezone.now())


@shared_task(name="operation.lock_evidence")
def lock_evidence() -> None:
    """Lock the raw files of documents that were issued."""
    evidence_locks.lock_evidence(now=timezone.now())
