"""Pictures of drafts, drawn while people still write and review: issuing finds them kept.

Nothing waits for them, and a lost message changes nothing: setting draws what is missing.
"""

from django.db import transaction

from delivery.documents import chart_cache
from delivery.documents.render_process import run_in_child
from delivery.reports.models import Document
from delivery.reports.services.render_jobs import ask

PORTION = 5  # pictures per turn of the press, so that a paper ordered meanwhile need not wait long


def draw_later(document: Document) -> None:
    """Ask the workers, once this transaction has committed, to draw what the facts show."""
    if any(chart_cache.specifications(document.snapshot)):
        transaction.on_commit(lambda: ask("reports.draw", document.pk))


def draw_pictures(pk: int) -> int:
    """Draw the pictures of a document that are not kept yet. Returns how many were missing.

    Raises RenderFailedError if the process that draws died; what was drawn stays.
    """
    document = Document.objects.filter(pk=pk).only("snapshot").first()
    found = chart_cache.specifications(document.snapshot) if document else ()
    missing = [spec for spec in found if not chart_cache.is_kept(spec)]
    for n in range(0, len(missing), PORTION):
        run_in_child(chart_cache.draw_ahead, missing[n:n + PORTION])
    return len(missing)
