"""Documents, their reviews by the customer, signatures and outstanding issues."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.acceptance.models import Condition, Review, Signer, WarrantyClaim
from delivery.acceptance.review import transitions as reviews
from delivery.acceptance.review.transitions import ReviewAction
from delivery.next_steps.items import OPEN, OTHERS_WAIT
from delivery.next_steps.rules import NextStep, Place, Scope, by_move, everybody, may_make, states
from delivery.reports import transitions as documents
from delivery.reports.approvals import approval_chain
from delivery.reports.approvals.document_duties import DUTIES
from delivery.reports.models import Document, DocumentStep
from delivery.reports.transitions import DocumentMove
from engagements.access import Can, allowed
from engagements.addresses import address
from engagements.duties import missing_people
from engagements.models import Engagement, Membership, User

States = Document.State
OF_DOCUMENT = ("document__snapshot", "document__words")  # a line of a list needs no facts
OF_REVIEWED = tuple(f"review__{column}" for column in OF_DOCUMENT)


def _customer(user: User) -> bool:
    return allowed(user, Can.REVIEW)


def _manager(user: User) -> bool:
    return allowed(user, Can.MANAGE)


def _insider(user: User) -> bool:
    return allowed(user, Can.VIEW_INTERNAL)


def _anybody(_user: User) -> bool:
    return True


def _visible(scope: Scope):
    return scope.of(Document.objects)


def _documents(state: str, related: str = "turns"):
    return lambda scope: _visible(scope).without_facts().filter(state=state).select_related(
        "engagement").prefetch_related(related)


def _document_place(row: Document, since, **more) -> Place:
    return Place(title=str(row), engagement=row.engagement.code, since=since,
                 url=address("reports:document", row.pk), **more)


def _draft_place(row: Document) -> Place:
    """Others wait for those that were sent back."""
    last = next(reversed(row.steps.all()), None)
    if last is not None and last.action == DocumentStep.Action.SEND_BACK:
        return _document_place(row, last.at, kind="document_back", rank=OTHERS_WAIT,
                               label=_("Document sent back: to be revised"))
    return _document_place(row, row.created_at)


def _lacks(row: Document) -> list[str]:
    return missing_people(DUTIES, row, None)


def _is_author(user: User, row: Document) -> bool:
    return row.created_by_id == user.pk


DOCUMENTS = (
    by_move("document", documents.TRANSITIONS, DocumentMove.REVIEW, code="document",
            label=gettext_lazy("Document to review"), is_for=approval_chain.waits_for,
            lacks=_lacks, rows=_documents(States.IN_REVIEW), order=("submitted_at",),
            perhaps=approval_chain.perhaps_waits_for,
            place=lambda row: _document_place(row, row.submitted_at)),
    NextStep(code="document", label=gettext_lazy("Document to approve"), may=_insider,
             is_for=approval_chain.waits_for, lacks=_lacks, rows=_documents(States.REVIEWED),
             order=("reviewed_at",), perhaps=approval_chain.perhaps_waits_for,
             place=lambda row: _document_place(row, row.reviewed_at),
             covers=states("document", States.REVIEWED)),
    NextStep(code="document_draft", label=gettext_lazy("Draft document to finish"), rank=OPEN,
             may=_insider, is_for=_is_author, rows=_documents(States.DRAFT, "steps"),
             order=("created_at",), perhaps=lambda user: Q(created_by=user),
             place=_draft_place, covers=states("document", States.DRAFT)),
)


# Reviews by the customer --------------------------------------------------------------------

def _open_reviews(scope: Scope) -> Iterable[Review]:
    return Review.objects.filter(
        decision="", document__state=States.ISSUED, document__in=_visible(scope)
    ).select_related("document__engagement").defer(*OF_DOCUMENT)


def _review_place(review: Review) -> Place:
    return Place(title=review.document.number, engagement=review.document.engagement.code,
                 url=address("acceptance:review", review.document_id),
                 since=review.opened_at, due=review.due_on)


def _turns(scope: Scope) -> Iterable[Signer]:
    """Of each decided document the signer whose turn it is, unless one refused."""
    rows = Signer.objects.filter(
        review__document__in=_visible(scope).filter(state=States.ISSUED)
    ).exclude(review__decision__in=["", Review.Decision.DEEMED])
    if scope.user:
        rows = rows.filter(review__in=Signer.objects.filter(
            user=scope.user, state=Signer.State.WAITING).values("review"))
    turns: dict[int, Signer] = {}
    refused = set()
    for row in rows.select_related("review__document__engagement").defer(
            *OF_REVIEWED).order_by("position"):
        if row.state == Signer.State.DECLINED:
            refused.add(row.review_id)
        elif row.state == Signer.State.WAITING:
            turns.setdefault(row.review_id, row)
    return [row for row in turns.values() if row.review_id not in refused]


def _turn_place(row: Signer) -> Place:
    document = row.review.document
    return Place(title=document.number, engagement=document.engagement.code,
                 url=address("acceptance:signing", document.pk),
                 since=row.review.decided_at)


def _unordered(scope: Scope) -> Iterable[Review]:
    """Decided, with no order of signers: whoever reviews for the customer signs."""
    return Review.objects.filter(
        signers=None, document__in=_visible(scope).filter(state=States.ISSUED)
    ).exclude(decision__in=["", Review.Decision.DEEMED]).select_related(
        "document__engagement").defer(*OF_DOCUMENT)


def _unordered_place(review: Review) -> Place:
    document = review.document
    return Place(title=document.number, engagement=document.engagement.code,
                 url=address("acceptance:signing", document.pk), since=review.decided_at)


def _refused(scope: Scope) -> Iterable[Review]:
    """A signer declined, or the customer rejected: a new version or other signers."""
    found = Review.objects.filter(document__in=_visible(scope).filter(successors=None))
    declined = found.filter(document__state=States.ISSUED, signers__state=Signer.State.DECLINED)
    rejected = found.filter(document__state__in=Document.IN_FORCE,
                            decision=Review.Decision.REJECTED)
    return (declined | rejected).distinct().select_related("document__engagement").defer(
        *OF_DOCUMENT)


def _conditions(*, is_reported: bool):
    return lambda scope: Condition.objects.filter(
        closed_at=None, reported_at__isnull=not is_reported,
        review__document__in=_visible(scope)).annotate(is_owner_here=Exists(
            Membership.objects.filter(engagement=OuterRef("review__document__engagement"),
                                      user=OuterRef("owner_user"), user__is_active=True))
        ).select_related("review__document__engagement", "owner_user").defer(*OF_REVIEWED)


def _is_owner(user: User, row: Condition) -> bool:
    """Whose it is; a manager where nobody of the team is."""
    return row.owner_user_id == user.pk or (not row.is_owner_here and _manager(user))


def _condition_place(row: Condition) -> Place:
    document = row.review.document
    return Place(title=row.description[:80], engagement=document.engagement.code,
                 url=address("acceptance:review", document.pk),
                 since=row.reported_at or row.review.decided_at, due=row.due_on)


def _claims(**filters):
    """Open ones; those of a closed engagement too."""
    return lambda scope: scope.of(WarrantyClaim.objects, may_have_ended=True).filter(
        closed_at=None, **filters).exclude(
        engagement__state__in=Engagement.NEVER_DUE).select_related("engagement")


def _claim_place(row: WarrantyClaim) -> Place:
    code = row.engagement.code
    return Place(title=f"{row}", engagement=code, url=address("acceptance:warranty", code),
                 since=row.reported_at or row.raised_at)


REVIEWS = (
    by_move("review", reviews.TRANSITIONS, ReviewAction.DECIDE, code="review",
            label=gettext_lazy("Document to accept"), order=("opened_at",), is_for=everybody,
            rows=_open_reviews, place=_review_place, covers=states("review", "open")),
    NextStep(code="signature", label=gettext_lazy("Document to sign"), may=_anybody,
             is_for=lambda user, row: row.user_id == user.pk, rows=_turns, place=_turn_place,
             covers=states("review", "decided")),
    by_move("review", reviews.TRANSITIONS, ReviewAction.SIGN, code="signature",
            label=gettext_lazy("Document to sign"), asks=None, is_for=everybody, rows=_unordered,
            place=_unordered_place, covers=states("review", "decided")),
    NextStep(code="review_refused", label=gettext_lazy("Refusal to answer with a new version"),
             may=may_make(documents.TRANSITIONS, DocumentMove.CORRECT), rows=_refused,
             place=_review_place, covers=states("review", "decided")),
    NextStep(code="condition", label=gettext_lazy("Outstanding issue of the acceptance"),
             may=lambda user: _manager(user) or _customer(user) or allowed(user, Can.WORK),
             is_for=_is_owner, goes_to_delegate=True, rows=_conditions(is_reported=False),
             order=("due_on",), place=_condition_place),
    NextStep(code="condition", label=gettext_lazy("Outstanding issue resolved: to confirm"),
             may=_customer, rows=_conditions(is_reported=True), order=("due_on",),
             place=_condition_place),
    NextStep(code="claim", label=gettext_lazy("Warranty claim to repair"), may=_manager,
             rows=_claims(reported_at=None), order=("found_on",), place=_claim_place),
    NextStep(code="claim", label=gettext_lazy("Repair under the warranty to confirm"),
             may=_customer, rows=_claims(reported_at__isnull=False), order=("reported_at",),
             place=_claim_place),
)
RULES = (*DOCUMENTS, *REVIEWS)
