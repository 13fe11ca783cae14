"""Copies with a signature page, sealed with the firm's certificate."""

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from delivery.acceptance.models import Review, Seal
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError
from delivery.acceptance.signing.signature_page import signed_facts
from delivery.documents.bilingual import LANGUAGES
from delivery.reports.rendering import render_document
from delivery.reports.services import store_file
from engagements.audit import audit_log
from engagements.queue.enqueue import enqueue_on_commit

if TYPE_CHECKING:
    from delivery.acceptance.signing.seals.seal_validation import SealFacts

log = logging.getLogger(__name__)


def queue_signed_copies(review: Review) -> None:
    """Enqueue the task that makes the copies, after the transaction commits.

    If the message is lost, `complete_signed_copies` finds what is missing.
    """
    enqueue_on_commit("acceptance.store_copies", review.pk, expires=600)


def store_signed_copies(review: Review, languages: Iterable[str] = LANGUAGES) -> int:
    """Store the sealed copies that are missing in these languages. Returns how many.

    Safe to repeat. No transaction is open while it renders and seals. Without the seal (no
    certificate, no time stamp) nothing is stored; `complete_signed_copies` tries again.
    """
    review = Review.objects.select_related("document", "decided_by").get(pk=review.pk)
    form, made = copy_format(review), 0
    for language in languages if form else ():
        if not review.document.files.filter(language=language, format=form).exists():
            made += _store(review, language, form)
    return made


def copy_format(review: Review) -> str:
    """signed, signed2 … by the number of signatures; deemed; empty if there is nothing to copy."""
    if review.decision == Review.Decision.DEEMED:
        return "deemed"
    count = review.signatures.count()
    return {0: "", 1: "signed"}.get(count, f"signed{count}")


def _store(review: Review, language: str, form: str) -> int:
    # These import pyHanko, which takes half a second: only who seals waits for it.
    from delivery.acceptance.signing.seals.pdf_seal import seal
    from delivery.acceptance.signing.seals.seal_validation import check_seals

    content = render_document(review.document.snapshot, language, signed_facts(review))
    try:
        content = seal(content, reason=str(review), is_practice=review.document.is_practice)
    except SealUnavailableError as error:
        log.error("%s not sealed: %s", review.document, error)
        return 0
    [found] = check_seals(content)
    with suppress(IntegrityError), transaction.atomic():  # another worker stored it first
        _store_seal(store_file(review.document, language, content, form), found)
        return 1
    return 0


def _store_seal(stored, found: "SealFacts") -> None:
    kept = Seal.objects.create(
        file=stored, subject=found.certificate.subject[:240],
        fingerprint=found.certificate.fingerprint, is_practice=found.certificate.is_practice,
        stamped_at=found.stamped_at, authority=found.authority[:240], level=found.level)
    audit_log.record(actor=None, action="document.seal", target=stored.document,
                 engagement=stored.document.engagement,
                 data={"format": stored.format, "language": stored.language, "level": kept.level,
                       "fingerprint": kept.fingerprint})


def complete_signed_copies() -> int:
    """Make the copies that a crash or a missing seal left out. Returns how many."""
    concluded = Review.objects.filter(signatures__isnull=False) | Review.objects.filter(
        decision=Review.Decision.DEEMED)
    reviews = concluded.distinct().select_related("document")
    return sum(store_signed_copies(review) for review in reviews if not _is_complete(review))


def _is_complete(review: Review) -> bool:
    return review.document.files.filter(format=copy_format(review)).count() == len(LANGUAGES)
