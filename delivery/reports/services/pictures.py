"""Pictures of drafts, drawn while people still write and review: issuing finds them kept.

Nothing waits for them, and a lost message changes nothing: setting draws what is missing.
"""

from django.db import transaction

from delivery.reports import figures
from delivery.reports.models import Document
from delivery.reports.press import run_apart
from delivery.reports.services.orders import ask

PORTION = 5  # pictures per turn of the press, so that a paper ordered meanwhile need not wait long


def draw_later(document: Document) -> None:
    """Ask the workers, once this transaction has committed, to draw what the facts show."""
    if any(figures.specifications(document.snapshot)):
        transaction.on_commit(lambda: ask("reports.draw", document.pk))


def draw_pictures(pk: int) -> int:
    """Draw the pictures of a document that are not kept yet. Returns how many were missing.

    Raises PressFailedError if the process that draws died; what was drawn stays.
    """
    document = Document.objects.filter(pk=pk).only("snapshot").first()
    found = figures.specifications(document.snapshot) if document else ()
    missing = [spec for spec in found if not figures.is_kept(spec)]
    for n in range(0, len(missing), PORTION):
        run_apart(figures.draw_ahead, missing[n:n + PORTION])
    return len(missing)
