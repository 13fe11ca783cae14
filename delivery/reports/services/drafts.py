"""Drafts: made from the facts of the moment, written, collected anew, thrown away."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.reports import registry, standard_text
from delivery.reports.facts.snapshot import collect, words_of
from delivery.reports.models import Document
from delivery.reports.services.chart_drawing import draw_later
from delivery.reports.services.files import forget_previews
from delivery.reports.services.locking import current, locked_for
from delivery.reports.transitions import TRANSITIONS, DocumentMove
from engagements.access import require
from engagements.audit import audit_log
from engagements.conflict_retry import checked_insert
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User
from engagements.moves import require_move
from engagements.text.printable_text import printable_facts

LONGEST_TEXT = 8000


def draft_test_report(*, actor: User, engagement: Engagement) -> Document:
    """A draft of the migration test report (TR); facts are shown as they stand now."""
    return draft_document(actor=actor, engagement=engagement, kind=Document.Kind.TEST_REPORT)


def draft_acceptance(*, actor: User, engagement: Engagement) -> Document:
    """A draft of the final acceptance (FA)."""
    return draft_document(actor=actor, engagement=engagement, kind=Document.Kind.ACCEPTANCE)


def draft_document(*, actor: User, engagement: Engagement, kind: str) -> Document:
    """A draft of that kind, its passages filled with the standard texts.

    Raises InvalidInput for an unknown kind, WrongState while one of the kind is open.
    """
    declared = registry.get(kind)
    require(actor, declared.written_by, engagement)
    _require_none_open(engagement, kind)
    document = Document(engagement=engagement, kind=kind, created_by=actor,
                        words=standard_text.standard_words(declared, engagement.customer,
                                                           engagement.models.current()))
    facts = collect(document, now=timezone.now())
    with checked_insert(lambda: _require_none_open(engagement, kind)):
        return _save_draft(actor, document, facts, "document.draft")


def _require_none_open(engagement: Engagement, kind: str) -> None:
    if engagement.documents.filter(kind=kind, state__in=Document.OPEN_STATES).exists():
        raise WrongState(_("A draft of this kind already exists; issue or discard it first."))


def _save_draft(actor: User, document: Document, facts: dict, action: str) -> Document:
    """Keep a draft with facts that were collected before the transaction began: files are read
    for them, and on SQLite every other writer would wait meanwhile."""
    document.snapshot = {**facts, "words": printable_facts(words_of(document))}
    document.is_practice = facts["is_practice"]
    document.save()
    forget_previews(document)
    draw_later(document)
    audit_log.record(actor=actor, action=action, target=document, engagement=document.engagement)
    return document


def _facts_for(actor: User, document: Document, move: str, reason: str | None = None) -> dict:
    """The facts as they stand now, once it is sure that the actor may make the move."""
    document = current(document)
    require_move(actor, TRANSITIONS, document, move, reason)
    return collect(document, now=timezone.now())


def refresh_draft(*, actor: User, document: Document) -> Document:
    """Collect the facts of a draft anew."""
    facts = _facts_for(actor, document, DocumentMove.REFRESH)
    with transaction.atomic():
        return _save_draft(actor, locked_for(actor, document, DocumentMove.REFRESH), facts,
                           TRANSITIONS[DocumentMove.REFRESH].audit.code)


def write_words(*, actor: User, document: Document, words: dict[str, dict[str, str]]) -> Document:
    """Write passages of a draft.

    Args:
        words: {code of a passage: {"zh", "en"}}; passages that are not named stay as they are.
    """
    facts, written = _facts_for(actor, document, DocumentMove.WORDS), _checked(document, words)
    with transaction.atomic():
        document = locked_for(actor, document, DocumentMove.WORDS)
        document.words = {**document.words, **written}
        return _save_draft(actor, document, facts, TRANSITIONS[DocumentMove.WORDS].audit.code)


def _checked(document: Document, words: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    blocks = {block.code: block for block in registry.get(document.kind).blocks}
    for code in words:
        if code not in blocks:
            raise InvalidInput(_("This kind of document has no passage “%(code)s”.")
                               % {"code": code})
    return {code: {side: _text(texts.get(side, ""), blocks[code].title) for side in ("zh", "en")}
            for code, texts in words.items()}


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
    audit_log.record(actor=actor, action=TRANSITIONS[DocumentMove.DISCARD].audit.code,
                     target=document, engagement=document.engagement)


def draft_correction(*, actor: User, document: Document, reason: str) -> Document:
    """A draft of the next version of an issued document; the old one stays as it is.

    Raises InvalidInput without a reason, WrongState for a draft, a superseded document, or one
    whose correction is open already.
    """
    require_move(actor, TRANSITIONS, current(document), DocumentMove.CORRECT, reason)
    facts = collect(_next_version(actor, document, reason), now=timezone.now())
    with transaction.atomic():
        document = locked_for(actor, document, DocumentMove.CORRECT, reason)
        return _save_draft(actor, _next_version(actor, document, reason), facts,
                           TRANSITIONS[DocumentMove.CORRECT].audit.code)


def _next_version(actor: User, document: Document, reason: str) -> Document:
    return Document(engagement=document.engagement, kind=document.kind, created_by=actor,
                    replaces=document, version=document.version + 1, words=document.words,
                    change_note=reason.strip()[:400])
