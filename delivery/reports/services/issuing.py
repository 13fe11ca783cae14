"""Issuing: number and freeze what was reviewed, then have its files made."""

import secrets
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from delivery.reports import registry
from delivery.reports.facts.snapshot import approved, content_hash
from delivery.reports.issue_checks.checks import require_complete
from delivery.reports.models import Document
from delivery.reports.services.files import forget_previews
from delivery.reports.services.locking import locked_for, record_step
from delivery.reports.services.render_jobs import State as OrderState
from delivery.reports.services.render_jobs import enqueue_later, queue_render_jobs, run_render_job
from delivery.reports.transitions import TRANSITIONS, DocumentMove
from engagements.errors import DeskError
from engagements.models import User
from engagements.moves import require_permission

ATTEMPTS = 8


class RenderingFailed(DeskError):
    """The document is frozen, but a file could not be made; trying again is safe."""

    code = "rendering_failed"
    status = 503


def order_issue(*, actor: User, document: Document) -> Document:
    """Approve a reviewed document: number and freeze it; workers make its files.

    When the last file is stored it is issued, and what it replaces superseded. Raises
    InvalidInput naming what is missing or contradictory (AR-07), WrongState if it is not
    reviewed, NotAllowed for its reviewer.
    """
    return _frozen(actor, document)


def issue_document(*, actor: User, document: Document) -> Document:
    """The same, its files made at once by the caller: for commands and tests."""
    claim_token = secrets.token_hex(8)
    frozen = _frozen(actor, document, claim_token)
    for order in frozen.render_jobs.filter(claim_token=claim_token, state=OrderState.RUNNING):
        run_render_job(order, claim_token)
    frozen.refresh_from_db()
    failed = frozen.render_jobs.exclude(state=OrderState.DONE).first()
    if failed:
        raise RenderingFailed(failed.error)
    return frozen


def _frozen(actor: User, document: Document, claim_token: str = "") -> Document:
    require_permission(actor, TRANSITIONS, document, DocumentMove.ISSUE)
    require_complete(document)
    for last in range(ATTEMPTS - 1, -1, -1):
        try:
            return _freeze(actor, document, claim_token)
        except IntegrityError:  # somebody else took the number
            if not last:
                raise
    raise AssertionError("unreachable")


@transaction.atomic
def _freeze(actor: User, document: Document, claim_token: str) -> Document:
    document = locked_for(actor, document, DocumentMove.ISSUE)
    document.turns.filter(action="approve").update(done_by=actor, done_at=timezone.now())
    now, old = timezone.now(), document.replaces
    document.number = old.number if old else _next_number(document, now)
    document.state, document.issued_at, document.issued_by = Document.State.ISSUING, now, actor
    document.snapshot = approved(document, now=now, approved_by=actor)
    document.content_hash = content_hash(document.snapshot)
    document.save()
    forget_previews(document)
    record_step(document, actor, DocumentMove.ISSUE, number=document.number)
    queue_render_jobs(document, registry.get(document.kind).formats, claim_token)
    if not claim_token:
        enqueue_later(document)
    return document


def _next_number(document: Document, now: datetime) -> str:
    """<TYPE>-<project code>-<yyyymmdd>-<3-digit sequence> (DOMAIN 9.1)."""
    start = f"{document.kind}-{document.engagement.code}-{timezone.localdate(now):%Y%m%d}-"
    newest = Document.objects.filter(number__startswith=start).aggregate(n=Max("number"))["n"]
    return f"{start}{int(newest.rpartition('-')[2]) + 1 if newest else 1:03}"
