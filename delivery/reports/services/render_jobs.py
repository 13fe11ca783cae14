"""Orders for files: placed by a page, filled by a worker. A doubled message makes nothing twice."""

import contextlib
import logging
from collections.abc import Iterable
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.documents import render_progress
from delivery.documents.bilingual import LANGUAGES
from delivery.documents.render_process import RenderFailedError, run_in_child
from delivery.documents.services.issued_files import note_final_failure
from delivery.reports import registry, rendering
from delivery.reports.models import Document, RenderJob
from delivery.reports.services.files import PREVIEW, store_file
from delivery.reports.services.locking import locked
from delivery.reports.services.supersession import supersede_older
from delivery.reports.signals import document_issued
from delivery.reports.transitions import TRANSITIONS, DocumentMove
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import DeskError
from engagements.models import User
from engagements.moves import require_move
from engagements.queue import enqueue

HOLD = timedelta(minutes=6)  # longer than a task may take
BRIEF_HOLD = timedelta(minutes=1)  # renewed while the render process lives
MOST_ATTEMPTS = 3
State = RenderJob.State
STORED = TRANSITIONS.automatic["its last file is stored"]
logger = logging.getLogger(__name__)


def queue_render_jobs(document: Document, formats: Iterable[str], claim_token: str = ""
                 ) -> list[RenderJob]:
    """One order per language and format; what is stored or ordered already is left alone.

    Args:
        claim_token: the caller fills them itself; nobody else takes them meanwhile.
    """
    held = {"state": State.RUNNING, "claim_token": claim_token, "attempts": 1,
            "claimed_until": timezone.now() + HOLD} if claim_token else {}
    return [RenderJob.objects.get_or_create(document=document, language=language, format=form,
                                            defaults=held)[0]
            for language in LANGUAGES for form in formats
            if not document.files.filter(language=language, format=form).exists()]


def enqueue_later(document: Document) -> None:
    """Ask workers, once this transaction has committed, to render the document's files."""
    transaction.on_commit(
        lambda: enqueue_render_jobs(document.render_jobs.filter(state=State.PENDING)))


def enqueue_render_jobs(jobs: QuerySet) -> None:
    """Ask now. A broker that is away is no error: the periodic sweep finds what is due."""
    for pk in jobs.values_list("pk", flat=True):
        enqueue("reports.make", pk, expires=120)


@transaction.atomic
def order_preview(*, actor: User, document: Document) -> Document:
    """Have a draft set as PDF in both languages."""
    require_move(actor, TRANSITIONS, document, DocumentMove.PREVIEW)
    queue_render_jobs(document, (PREVIEW,))
    enqueue_later(document)
    return document


@transaction.atomic
def requeue_render_jobs(*, actor: User, document: Document) -> int:
    """Try the failed orders of a document again. Returns how many."""
    require(actor, Can.VIEW_INTERNAL, document.engagement)
    count = document.render_jobs.filter(state=State.FAILED).release(
        state=State.PENDING, attempts=0, error="")
    enqueue_later(document)
    return count


def take_render_job(pk: int) -> bool:
    """Fill an order if it is still due. Returns whether this call made the file."""
    now = timezone.now()
    claim_token = RenderJob.objects.due(now).filter(pk=pk).claim(
        now, HOLD, state=State.RUNNING, attempts=F("attempts") + 1)
    if not claim_token:
        return False
    return run_render_job(RenderJob.objects.select_related("document__engagement").get(pk=pk),
                          claim_token)


def run_render_job(order: RenderJob, claim_token: str) -> bool:
    """Render a held order and keep the file. No transaction is open while it renders."""
    try:
        content = rendered(order)
    except DeskError as error:
        is_final = order.attempts >= MOST_ATTEMPTS or not isinstance(error, RenderFailedError)
        _fail(order, claim_token, error.message, is_final=is_final)
        return False
    except Exception:
        logger.exception("order %s failed", order.pk)
        _fail(order, claim_token, _("The file could not be generated; see the worker's log."),
              is_final=order.attempts >= MOST_ATTEMPTS)
        return False
    return _keep(order, claim_token, content)


def rendered(order: RenderJob) -> bytes:
    """The bytes of an order's file; nothing goes in but the frozen facts."""
    mark, _dash, form = order.format.rpartition("-")
    write = registry.get(order.document.kind).writers.get(form, rendering.render_document)
    return run_in_child(render_progress.report_progress, order.pk, write, order.document.snapshot,
                        order.language,
                     is_withdrawn=registry.WITHDRAWN in (mark, form),
                     still_waiting=lambda: _hold_on(order))


def _hold_on(order: RenderJob) -> None:
    """Whoever holds the order is alive; a minute after the last word of it the order is due."""
    RenderJob.objects.filter(pk=order.pk, state=State.RUNNING,
                             claim_token=order.claim_token).renew_claim(
        timezone.now(), BRIEF_HOLD)


def _keep(order: RenderJob, claim_token: str, content: bytes) -> bool:
    with contextlib.suppress(IntegrityError), transaction.atomic():
        # The facts may have changed meanwhile: then the order is gone, and its bytes with it.
        mine = RenderJob.objects.select_for_update(of=("self",), no_key=True).filter(
            pk=order.pk, state=State.RUNNING, claim_token=claim_token)
        if mine.exists():
            store_file(order.document, order.language, content, order.format)
            mine.release(state=State.DONE, error="", finished_at=timezone.now())
            finish_issue(order.document)
            return True
    return False


@transaction.atomic
def _fail(order: RenderJob, claim_token: str, sentence: str, *, is_final: bool) -> None:
    released = RenderJob.objects.filter(
        pk=order.pk, state=State.RUNNING, claim_token=claim_token).release(
        state=State.FAILED if is_final else State.PENDING, error=sentence[:400])
    if released and is_final:
        note_final_failure(order.document, order.language, order.format, sentence)


def finish_issue(document: Document) -> bool:
    """Make a document issued once all its files are there; see `supersede_older`.

    To be called within the transaction that stored a file.
    """
    document = locked(document)
    if document.state != Document.State.ISSUING or not _is_complete(document):
        return False
    document.state = STORED.target
    document.save(update_fields=["state"])
    supersede_older(actor=document.issued_by, document=document)
    audit_log.record(actor=document.issued_by, action=STORED.audit.code, target=document,
                     engagement=document.engagement,
                     data={"number": document.number, "hash": document.content_hash})
    document_issued.send(Document, document=document)
    return True


def _is_complete(document: Document) -> bool:
    stored = set(document.files.values_list("language", "format"))
    return stored >= {(language, form) for language in LANGUAGES
                      for form in registry.get(document.kind).formats}
