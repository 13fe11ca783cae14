"""Copies with a signature page, sealed with the firm's certificate."""

import logging
import smtplib
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Concat
from django.utils.translation import gettext as _

from delivery.acceptance.models import Review, Seal, Signature, Signer
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError
from delivery.acceptance.signing.signature_page import signed_facts
from delivery.documents.bilingual import LANGUAGES
from delivery.reports.models import Document, DocumentFile
from delivery.reports.rendering import render_document
from delivery.reports.services import store_file
from engagements.audit import audit_log
from engagements.bilingual_mail import chosen_language, send_mail

if TYPE_CHECKING:
    from bundle_verifier.signatures.seal_validation import SealFacts

log = logging.getLogger(__name__)


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
    copies = list(review.document.files.filter(format=form)) if made else []
    if len(copies) == len(LANGUAGES) and review.document.state == Document.State.SIGNED:
        _mail_copies(review, copies)
    return made


def _mail_copies(review: Review, copies: list[DocumentFile]) -> None:
    """Everybody who signed gets the copies that all have signed; one that cannot be sent stays on
    the page."""
    document, engagement = review.document, review.document.engagement
    files = []
    for stored in copies:
        with stored.file.open("rb") as file:
            files.append((stored.download_name, file.read(), "application/pdf"))
    for row in review.signatures.select_related("signer"):
        try:
            send_mail(
                to=row.signer, language=chosen_language(row.signer_id), attachments=files,
                subject=lambda: _("Signed: %(document)s, %(decision)s") % {
                    "document": document, "decision": review.get_decision_display()},
                paragraphs=lambda: [
                    _("The document is signed by everybody; the sealed copies are attached."),
                    f"{engagement.code} {engagement.localized_name}"])
        except (smtplib.SMTPException, OSError) as error:
            log.warning("%s not mailed to %s: %s", document, row.signer, error)


def copy_format(review: Review) -> str:
    """signed, signed2 … by the number of signatures; deemed; empty while nobody or not everybody
    has signed: a copy with some of the signatures is none."""
    return _with_format().values_list("copy_format", flat=True).get(pk=review.pk)


def _with_format() -> QuerySet[Review]:
    """Reviews with `copy_format`."""
    signatures = Signature.objects.filter(review=OuterRef("pk"))
    waiting = Signer.objects.filter(review=OuterRef("pk")).exclude(state=Signer.State.SIGNED)
    return Review.objects.order_by().annotate(signature_count=_number_of(signatures)).annotate(
        copy_format=Case(
            When(decision=Review.Decision.DEEMED, then=Value("deemed")),
            When(Exists(waiting), then=Value("")),
            When(signature_count=0, then=Value("")),
            When(signature_count=1, then=Value("signed")),
            default=Concat(Value("signed"), Cast("signature_count", CharField()))))


def _number_of(rows: QuerySet) -> Coalesce:
    """How many rows of a subquery there are."""
    numbers = rows.order_by().annotate(all=Value(1)).values("all").values(number=Count("pk"))
    return Coalesce(Subquery(numbers), 0)


def _store(review: Review, language: str, form: str) -> int:
    # These import pyHanko, which takes half a second: only who seals waits for it.
    from bundle_verifier.signatures.seal_validation import check_seals
    from delivery.acceptance.signing.seals.pdf_seal import seal

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
    created = Seal.objects.create(
        file=stored, subject=found.certificate.subject[:240],
        fingerprint=found.certificate.fingerprint, is_practice=found.certificate.is_practice,
        stamped_at=found.stamped_at, authority=found.authority[:240], level=found.level)
    audit_log.record(actor=None, action="document.seal", target=stored.document,
                 engagement=stored.document.engagement,
                 data={"format": stored.format, "language": stored.language, "level": created.level,
                       "fingerprint": created.fingerprint})


def complete_signed_copies() -> int:
    """Make the copies that a crash or a missing seal left out. Returns how many."""
    copies = DocumentFile.objects.filter(
        document=OuterRef("document"), format=OuterRef("copy_format"))
    lacking = _with_format().exclude(copy_format="").annotate(
        copies=_number_of(copies)).filter(copies__lt=len(LANGUAGES))
    keys = list(lacking.order_by("pk").values_list("pk", flat=True))
    return sum(store_signed_copies(Review(pk=key)) for key in keys)
