"""Documents, their reviews by the customer, signatures and outstanding issues."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.acceptance.models import Condition, Review, Signer
from delivery.portal.inbox.items import OPEN, OTHERS_WAIT, InboxContext, InboxItem
from delivery.reports.approvals import approval_chain
from delivery.reports.models import Document, DocumentStep
from engagements.access import Can, allowed

States = Document.State


def documents(context: InboxContext) -> Iterator[InboxItem]:
    """Documents to review or to approve, where it is one's turn; never one's own work twice."""
    rows = Document.objects.visible_to(context.user).without_facts().filter(
        state__in=[States.IN_REVIEW, States.REVIEWED]).select_related(
            "engagement").prefetch_related("turns")
    for row in rows:
        reviews = row.state == States.IN_REVIEW
        if approval_chain.waits_for(context.user, row):
            yield _document(
                context, OTHERS_WAIT, "document",
                _("Document to review") if reviews else _("Document to approve"), row,
                since=row.submitted_at if reviews else row.reviewed_at)


def drafts(context: InboxContext) -> Iterator[InboxItem]:
    """One's own drafts; others wait for those that were sent back."""
    rows = Document.objects.visible_to(context.user).without_facts().filter(
        state=States.DRAFT, created_by=context.user).select_related(
            "engagement").prefetch_related("steps")
    for row in rows:
        last = next(reversed(row.steps.all()), None)
        is_back = last is not None and last.action == DocumentStep.Action.SEND_BACK
        yield _document(
            context, OTHERS_WAIT if is_back else OPEN,
            "document_back" if is_back else "document_draft",
            _("Document sent back: to be mended") if is_back else _("Draft document to finish"),
            row, since=last.at if is_back else row.created_at)


def _document(context: InboxContext, rank: int, kind: str, label: str, row: Document, *,
              since) -> InboxItem:
    return context.item(rank, kind, label, str(row), row.engagement.code,
                        reverse("reports:document", args=[row.pk]), since=since)


def reviews(context: InboxContext) -> Iterator[InboxItem]:
    """Acceptance documents that the customer has not decided on; the contract may set a day."""
    if not allowed(context.user, Can.REVIEW):
        return
    for review in Review.objects.filter(
            decision="", document__in=Document.objects.visible_to(context.user)
            ).select_related("document__engagement"):
        yield context.item(OTHERS_WAIT, "review", _("Document to accept"), review.document.number,
                           review.document.engagement.code,
                           reverse("acceptance:review", args=[review.document_id]),
                           since=review.opened_at, due=review.due_on)


def signatures(context: InboxContext) -> Iterator[InboxItem]:
    """Decided documents whose next signature is one's own."""
    rows = Signer.objects.filter(
        review__document__in=Document.objects.visible_to(context.user).filter(
            state=States.ISSUED)).exclude(review__decision__in=["", Review.Decision.DEEMED])
    turns: dict[int, Signer] = {}
    refused = set()
    for row in rows.select_related("review__document__engagement").order_by("position"):
        if row.state == Signer.State.DECLINED:
            refused.add(row.review_id)
        elif row.state == Signer.State.WAITING:
            turns.setdefault(row.review_id, row)
    for row in turns.values():
        if row.user_id == context.user.pk and row.review_id not in refused:
            document = row.review.document
            yield context.item(OTHERS_WAIT, "signature", _("Document to sign"), document.number,
                               document.engagement.code,
                               reverse("acceptance:signing", args=[document.pk]),
                               since=row.review.decided_at)


def conditions(context: InboxContext) -> Iterator[InboxItem]:
    """Outstanding issues of a conditional acceptance: to deal with, then to confirm as closed."""
    is_customer = allowed(context.user, Can.REVIEW)
    if not is_customer and not allowed(context.user, Can.MANAGE):
        return
    rows = Condition.objects.filter(
        closed_at=None, reported_at__isnull=not is_customer,
        review__document__in=Document.objects.visible_to(context.user))
    label = _("Outstanding issue dealt with: to confirm") if is_customer else _(
        "Outstanding issue of the acceptance")
    for row in rows.select_related("review__document__engagement"):
        document = row.review.document
        yield context.item(
            OTHERS_WAIT, "condition", label, row.description[:80], document.engagement.code,
            reverse("acceptance:review", args=[document.pk]),
            since=row.reported_at or row.review.decided_at, due=row.due_on)


SOURCES = (documents, drafts, reviews, signatures, conditions)
