"""Writes of this app: drafting, issuing and correcting documents."""

from datetime import datetime
from hashlib import sha256

from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.judging import compute
from assessments.models import CriteriaSet
from assessments.queries import current_criteria, verdicts_of
from delivery.reports.bilingual import LANGUAGES
from delivery.reports.evidence import open_jobs
from delivery.reports.models import Document, DocumentFile
from delivery.reports.rendering import render_document
from delivery.reports.snapshot import collect, content_hash
from engagements import audit
from engagements.access import Can, require
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User
from workers.artifacts import is_intact

ATTEMPTS = 8


def draft_test_report(*, actor: User, engagement: Engagement) -> Document:
    """A draft of the migration test report (TR); facts are shown as they stand now."""
    return _draft(actor, engagement, Document.Kind.TEST_REPORT)


def draft_acceptance(*, actor: User, engagement: Engagement) -> Document:
    """A draft of the acceptance document (FA)."""
    return _draft(actor, engagement, Document.Kind.ACCEPTANCE)


@transaction.atomic
def _draft(actor: User, engagement: Engagement, kind: str) -> Document:
    require(actor, Can.ISSUE, engagement)
    if engagement.documents.filter(kind=kind, state=Document.State.DRAFT).exists():
        raise WrongState(_("There is a draft of this kind already; issue or discard it first."))
    document = Document(engagement=engagement, kind=kind, created_by=actor)
    return _save_draft(actor, document, "document.draft")


def _save_draft(actor: User, document: Document, action: str) -> Document:
    document.snapshot = collect(document, now=timezone.now())
    document.is_practice = document.snapshot["is_practice"]
    document.save()
    audit.record(actor=actor, action=action, target=document, engagement=document.engagement)
    return document


@transaction.atomic
def refresh_draft(*, actor: User, document: Document) -> Document:
    """Collect the facts of a draft anew."""
    require(actor, Can.ISSUE, document.engagement)
    return _save_draft(actor, _locked_draft(document), "document.refresh")


@transaction.atomic
def discard_draft(*, actor: User, document: Document) -> None:
    """Throw a draft away. An issued document stays for good."""
    require(actor, Can.ISSUE, document.engagement)
    document = _locked_draft(document)
    audit.record(actor=actor, action="document.discard", target=document,
                 engagement=document.engagement)
    document.delete()


@transaction.atomic
def draft_correction(*, actor: User, document: Document, reason: str) -> Document:
    """A draft of the next version of an issued document; the old one stays as it is.

    Raises InvalidInput without a reason, WrongState for a draft, a superseded document, or one
    whose correction is open already.
    """
    require(actor, Can.ISSUE, document.engagement)
    document = Document.objects.select_for_update(of=("self",)).get(pk=document.pk)
    if document.state not in (Document.State.ISSUED, Document.State.SIGNED):
        raise WrongState(_("Only an issued document is corrected, by a new version."))
    if document.successors.exists():
        raise WrongState(_("A newer version of this document exists already."))
    if not reason.strip():
        raise InvalidInput(_("Say what is corrected and why."))
    draft = Document(engagement=document.engagement, kind=document.kind, created_by=actor,
                     replaces=document, version=document.version + 1,
                     change_note=reason.strip()[:400])
    return _save_draft(actor, draft, "document.correct")


def issue_document(*, actor: User, document: Document) -> Document:
    """Freeze a draft: number, facts, content hash and both PDF files.

    What it replaces becomes superseded. Raises InvalidInput naming what is missing or
    contradictory (AR-07), WrongState if it is no draft.
    """
    require(actor, Can.ISSUE, document.engagement)
    for last in range(ATTEMPTS - 1, -1, -1):
        try:
            with transaction.atomic():
                return _issue(actor, document)
        except IntegrityError:  # somebody else took the number
            if not last:
                raise
    raise AssertionError("unreachable")


def _issue(actor: User, document: Document) -> Document:
    document = _locked_draft(document)
    _require_complete(document.engagement)
    now = timezone.now()
    old = document.replaces
    document.number = old.number if old else _next_number(document, now)
    document.state, document.issued_at, document.issued_by = Document.State.ISSUED, now, actor
    document.snapshot = collect(document, now=now, approved_by=actor)
    document.is_practice = document.snapshot["is_practice"]
    document.content_hash = content_hash(document.snapshot)
    document.save()
    for language in LANGUAGES:
        store_pdf(document, language, render_document(document.snapshot, language))
    if old:
        old.state = Document.State.SUPERSEDED
        old.save(update_fields=["state"])
    audit.record(actor=actor, action="document.issue", target=document,
                 engagement=document.engagement,
                 data={"number": document.number, "hash": document.content_hash})
    return document


def store_pdf(document: Document, language: str, content: bytes, format: str = "pdf"
              ) -> DocumentFile:
    """Keep rendered bytes with their checksum. A format is stored once per language."""
    entry = DocumentFile(document=document, language=language, format=format,
                         size=len(content), sha256=sha256(content).hexdigest())
    entry.file.save(f"{document.number}-V{document.version}-{format}-{language}.pdf",
                    ContentFile(content), save=False)
    entry.save()
    return entry


def _locked_draft(document: Document) -> Document:
    document = Document.objects.select_for_update(of=("self",)).select_related(
        "engagement__customer", "created_by", "replaces").get(pk=document.pk)
    if document.is_frozen:
        raise WrongState(_("An issued document is never changed; make a new version of it."))
    return document


def _next_number(document: Document, now: datetime) -> str:
    """<TYPE>-<project code>-<yyyymmdd>-<3-digit sequence> (DOMAIN 9.1)."""
    start = f"{document.kind}-{document.engagement.code}-{timezone.localtime(now):%Y%m%d}-"
    newest = Document.objects.filter(number__startswith=start).aggregate(n=Max("number"))["n"]
    return f"{start}{int(newest.rpartition('-')[2]) + 1 if newest else 1:03}"


def _require_complete(engagement: Engagement) -> None:
    """Refuse blank mandatory cells and contradictions (AR-02, AR-03, AR-07)."""
    problems = issue_problems(engagement)
    if problems:
        raise InvalidInput(" ".join(problems), problems=problems)


def issue_problems(engagement: Engagement) -> list[str]:
    """What stands in the way of issuing, as sentences; empty if nothing does."""
    criteria = current_criteria(engagement)
    problems = [_("Fill in the contract number.")] if not engagement.contract_number else []
    if not engagement.models.exists():
        problems.append(_("The engagement has no model."))
    if open_jobs(engagement).exists():
        problems.append(_("Jobs are still running; wait for them or cancel them."))
    if criteria is None or criteria.state != CriteriaSet.State.SIGNED:
        return [*problems, _("The acceptance criteria are not signed.")]
    return problems + [problem for criterion, verdict in verdicts_of(criteria) if verdict
                       for problem in _contradictions(criterion, verdict)]


def _contradictions(criterion, verdict) -> list[str]:
    """A verdict whose raw file is missing or changed, or that no longer follows from it."""
    files = [criterion.baseline.artifact if criterion.baseline else None,
             verdict.measurement.artifact if verdict.measurement else None]
    damaged = [f.name for f in files if f and not is_intact(f)]
    if damaged:
        return [_("%(criterion)s: the raw file %(name)s is missing or its checksum differs.")
                % {"criterion": criterion, "name": name} for name in damaged]
    again = compute(criterion, verdict.measurement)
    if (again.outcome, again.reason) != (verdict.outcome, verdict.reason):
        return [_("%(criterion)s: the stored verdict no longer follows from its raw files; "
                  "judge it anew.") % {"criterion": criterion}]
    return []

