"""Drafts: made from the facts of the moment, written, collected anew, thrown away."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.reports import registry, standard_text
from delivery.reports.facts.snapshot import collect
from delivery.reports.models import Document
from delivery.reports.services.chart_drawing import draw_later
from delivery.reports.services.files import forget_previews
from delivery.reports.services.locking import locked_for
from delivery.reports.transitions import DocumentMove
from engagements.access import require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User

LONGEST_TEXT = 8000


def draft_test_report(*, actor: User, engagement: Engagement) -> Document:
    """A draft of the migration test report (TR); facts are shown as they stand now."""
    return draft_document(actor=actor, engagement=engagement, kind=Document.Kind.TEST_REPORT)


def draft_acceptance(*, actor: User, engagement: Engagement) -> Document:
    """A draft of the final acceptance (FA)."""
    return draft_document(actor=actor, engagement=engagement, kind=Document.Kind.ACCEPTANCE)


@transaction.atomic
def draft_document(*, actor: User, engagement: Engagement, kind: str) -> Document:
    """A draft of that kind, its passages filled with the standard texts.

    Raises InvalidInput for an unknown kind, WrongState while one of the kind is open.
    """
    declared = registry.get(kind)
    require(actor, declared.written_by, engagement)
    if engagement.documents.filter(kind=kind, state__in=Document.OPEN_STATES).exists():
        raise WrongState(_("A draft of this kind already exists; issue or discard it first."))
    document = Document(engagement=engagement, kind=kind, created_by=actor,
                        words=standard_text.standard_words(declared, engagement.customer,
                                                           engagement.models.current()))
    return _save_draft(actor, document, "document.draft")


def _save_draft(actor: User, document: Document, action: str) -> Document:
    document.snapshot = collect(document, now=timezone.now())
    document.is_practice = document.snapshot["is_practice"]
    document.save()
    forget_previews(document)
    draw_later(document)
    audit_log.record(actor=actor, action=action, target=document, engagement=document.engagement)
    return document


@transaction.atomic
def refresh_draft(*, actor: User, document: Document) -> Document:
    """Collect the facts of a draft anew."""
    return _save_draft(actor, locked_for(actor, document, DocumentMove.REFRESH), "document.refresh")


@transaction.atomic
def write_words(*, actor: User, document: Document, words: dict[str, dict[str, str]]) -> Document:
    """Write passages of a draft.

    Args:
        words: {code of a passage: {"zh", "en"}}; passages that are not named stay as they are.
    """
    document = locked_for(actor, document, DocumentMove.WORDS)
    blocks = {block.code: block for block in registry.get(document.kind).blocks}
    for code, texts in words.items():
        if code not in blocks:
            raise InvalidInput(_("This kind of document has no passage “%(code)s”.")
                               % {"code": code})
        document.words[code] = {side: _text(texts.get(side, ""), blocks[code].title)
                                for side in ("zh", "en")}
    return _save_draft(actor, document, "document.write")


def _text(value: str, title: str) -> str:
    text = str(value).replace("\r\n", "\n").strip()
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(_("“%(title)s” has %(n)s characters; the limit is %(limit)s.") % {
            "title": title, "n": len(text), "limit": LONGEST_TEXT})
    return "".join(c for c in text if c in "\n\t" or ord(c) >= 32)


@transaction.atomic
def discard_draft(*, actor: User, document: Document) -> None:
    """Throw a draft away. An issued document stays for good."""
    document = locked_for(actor, document, DocumentMove.DISCARD)
    forget_previews(document)
    Document.objects.filter(pk=document.pk).delete()
    audit_log.record(actor=actor, action="document.discard", target=document,
                     engagement=document.engagement)


@transaction.atomic
def draft_correction(*, actor: User, document: Document, reason: str) -> Document:
    """A draft of the next version of an issued document; the old one stays as it is.

    Raises InvalidInput without a reason, WrongState for a draft, a superseded document, or one
    whose correction is open already.
    """
    document = locked_for(actor, document, DocumentMove.CORRECT, reason)
    draft = Document(engagement=document.engagement, kind=document.kind, created_by=actor,
                     replaces=document, version=document.version + 1,
                     words=document.words, change_note=reason.strip()[:400])
    return _save_draft(actor, draft, "document.correct")
