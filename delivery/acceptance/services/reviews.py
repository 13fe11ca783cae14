"""Opening a review, and locking it for an action."""

from datetime import timedelta

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.models import AcceptanceTerms, Review, Signer
from delivery.acceptance.review.transitions import TRANSITIONS
from delivery.acceptance.services.blocker_waivers import condition_code
from delivery.agreement.queries import agreement_of
from delivery.planning.models import ProjectIssue
from delivery.reports.facts.trial_run import outdated
from delivery.reports.facts.waivers_and_omissions import issue_code
from delivery.reports.models import Document
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import Engagement, User
from engagements.moves import require_move
from engagements.permissions import Role

HELD_TERMS = ("has_preliminary", "trial_days", "review_days", "is_deemed", "clause",
              "needs_power")  # by a review from its opening on, with the agreed warranty
PHASES = {"PA": Review.Phase.PRELIMINARY, "FA": Review.Phase.FINAL}  # kinds of documents


@transaction.atomic
def open_review(*, actor: User, document: Document) -> Review:
    """Put an issued acceptance document before the customer. Safe to repeat.

    The contract's terms of acceptance are copied into the review; a period set there makes the
    deadline. Who signs is the agreement's, else taken over from the version before; the project
    manager may name others.
    Raises WrongState for a final acceptance whose preliminary one, trial period or blocking issues
    are still open, or that tells the trial run otherwise than it went.
    """
    require(actor, Can.ISSUE, document.engagement)
    document = Document.objects.select_for_update(of=("self",), no_key=True).get(pk=document.pk)
    if document.kind not in PHASES:
        raise WrongState(_("Only an acceptance document is reviewed and signed."))
    if document.state not in (Document.State.ISSUED, Document.State.SIGNED):
        raise WrongState(_("Only an issued document is reviewed."))
    existing = Review.objects.filter(document=document).first()
    if existing:
        return existing
    review = Review(document=document, phase=PHASES[document.kind],
                    terms=terms_of(document.engagement))
    _require_ripe(review)
    _require_current_trial(document)
    if review.terms.get("review_days"):
        review.due_on = timezone.localdate() + timedelta(days=review.terms["review_days"])
    review.save()
    signers = _carry_over_signers(review)
    audit_log.record(actor=actor, action="review.open", target=document,
                     engagement=document.engagement,
                     data={"phase": review.phase, "due_on": review.due_on, "terms": review.terms,
                           "signers": [user.username for user in signers]})
    return review


def _carry_over_signers(review: Review) -> list[User]:
    """Those whom the agreement names sign, in its order and capacity; where it names none, the
    signers of the version before sign the new one too, all anew.

    That is the newest version of the document that was reviewed; of a document drafted anew, the
    newest of its kind, else of the other one: who signs the final acceptance signed the
    preliminary one.
    """
    document = review.document
    agreed = agreement_of(document.engagement).value("signers") or []
    people = {user.username: user for user in User.objects.filter(
        memberships__engagement=document.engagement, role=Role.REVIEWER, is_active=True,
        username__in=[row["user"] for row in agreed])} if agreed else {}
    rows = [row for row in agreed if row["user"] in people]  # who left is named anew by hand
    if rows:
        return [Signer.objects.create(review=review, user=people[row["user"]], position=n,
                                      capacity=row["capacity"]).user
                for n, row in enumerate(rows, 1)]
    earlier = Review.objects.filter(document__engagement=document.engagement).exclude(pk=review.pk)
    of_kind = earlier.filter(document__kind=document.kind)
    versions = of_kind.filter(document__number=document.number)
    before = next(filter(None, (rows.order_by("pk").last()
                                for rows in (versions, of_kind, earlier))), None)
    rows = before.signers.select_related("user") if before else []
    return [Signer.objects.create(review=review, user=row.user, position=n,
                                  capacity=row.capacity).user
            for n, row in enumerate(rows, 1)]


def terms_of(engagement: Engagement) -> dict:
    """The contract's terms as plain facts, the warranty as agreed; empty where none are."""
    terms = AcceptanceTerms.objects.filter(engagement=engagement).first()
    months = agreement_of(engagement).value("warranty_months")
    return {**({name: getattr(terms, name) for name in HELD_TERMS} if terms else {}),
            **({"warranty_months": months} if months else {})}


def _require_ripe(review: Review) -> None:
    """A final acceptance after a preliminary one waits for the trial period and open issues."""
    if review.phase != Review.Phase.FINAL or not review.terms.get("has_preliminary"):
        return
    earlier = preliminary_of(review.document.engagement)
    if earlier is None:
        raise WrongState(_("The contract requires provisional acceptance first; none has been "
                           "signed."))
    if earlier.trial_ends_on and timezone.localdate() < earlier.trial_ends_on:
        raise WrongState(_("The trial period runs until %(day)s; the final acceptance follows it.")
                         % {"day": earlier.trial_ends_on.isoformat()})
    waived = review.engagement.blocker_waivers.codes_in_force(review.engagement)
    still_open = [
        *(row for row in earlier.open_blocking() if condition_code(row) not in waived),
        *(row for row in ProjectIssue.objects.blocking_final(review.engagement)
          if issue_code(row) not in waived)]
    if still_open:
        raise WrongState(_("Open issues hold up the final acceptance: %(issues)s")
                         % {"issues": "; ".join(str(row) for row in still_open)})


def _require_current_trial(document: Document) -> None:
    """A final certificate tells the trial run and the closure of its issues as they are now."""
    reason = outdated(document) if PHASES[document.kind] == Review.Phase.FINAL else ""
    if reason:
        raise WrongState(reason, cures=[correction_page(document)])


def correction_page(document: Document) -> str:
    """Where the next version of a document is drafted."""
    return f"{reverse('reports:document', args=[document.pk])}#correct"


def preliminary_of(engagement: Engagement) -> Review | None:
    """The newest concluded preliminary acceptance of the engagement."""
    return Review.objects.filter(
        document__engagement=engagement, phase=Review.Phase.PRELIMINARY,
        decision__in=Review.PASSING, trial_ends_on__isnull=False).exclude(
        document__state=Document.State.SUPERSEDED).order_by("-pk").first()


def lock_for_action(actor: User, review: Review, action: str) -> Review:
    """The locked row of the review, once the table lets the actor do it."""
    review = Review.objects.locked(review)
    require_move(actor, TRANSITIONS, review, action)
    return review
