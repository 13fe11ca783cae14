"""Pictures of drafts, drawn while people still write and review: issuing finds them kept.

Nothing waits for them, and a lost message changes nothing: setting draws what is missing.
"""

from delivery.documents import chart_cache
from delivery.documents.render_process import run_in_child
from delivery.reports.models import Document
from engagements.queue import enqueue_on_commit

PORTION = 5  # charts per call of the render process, so that a document waits only briefly


def draw_later(document: Document) -> None:
    """Ask the workers, once this transaction has committed, to draw what the facts show."""
    if any(chart_cache.specifications(document.snapshot)):
        enqueue_on_commit("reports.draw", document.pk, expires=120)


def draw_pictures(pk: int) -> int:
    """Draw the pictures of a document that are not kept yet. Returns how many were missing.

    Raises RenderFailedError if the process that draws died; what was drawn stays.
    """
    document = Document.objects.filter(pk=pk).only("snapshot").first()
    found = chart_cache.specifications(document.snapshot) if document else ()
    missing = [spec for spec in found if not chart_cache.is_cached(spec)]
    for n in range(0, len(missing), PORTION):
        run_in_child(chart_cache.draw_ahead, missing[n:n + PORTION])
    return len(missing)
