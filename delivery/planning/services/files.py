"""Storing the files of issued planning documents, by workers after the commit."""

from delivery.documents.services.issued_files import store_missing
from delivery.planning.document_files import KINDS, kind_of
from delivery.planning.models.issued import IssuedRow
from engagements.queue import enqueue, enqueue_on_commit

TASK = "planning.store_files"
SWEEP_SECONDS = 300


def store_planning_files(kind: str, row_id: int) -> int:
    """Render and store what the present edition of an issued row lacks. Safe to repeat, and to run
    twice at a time. Returns how many files this call stored.

    An edition that was over before its files were made is not made up for: nobody was given it.
    """
    printed = KINDS[kind]
    row = printed.model.objects.issued().select_related(
        f"{printed.engagement}__customer").filter(pk=row_id).first()
    if row is None:
        return 0
    return store_missing(row, {printed.form: printed.render}, action=f"{kind}.file", **row.edition)


def enqueue_files(row: IssuedRow) -> None:
    """Ask workers, once this transaction has committed, for the files of the row's new edition."""
    enqueue_on_commit(TASK, kind_of(row), row.pk, expires=SWEEP_SECONDS)


def enqueue_missing_files() -> None:
    """Ask workers for the files that issued rows lack, a message per row: also of rows that were
    issued before files were stored, and where a message was lost or a file failed."""
    for key, kind in KINDS.items():
        if kind.is_issued:
            for row_id in kind.model.objects.ids_lacking_files():
                enqueue(TASK, key, row_id, expires=SWEEP_SECONDS)
