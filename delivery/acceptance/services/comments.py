"""Remarks of the customer and the team: made, answered, resolved, or kept within the team."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.models import Criterion
from delivery.acceptance.models import Review, ReviewComment
from delivery.acceptance.review.transitions import TRANSITIONS, ReviewAction
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, MigratedModel, User
from engagements.moves import require_move


@transaction.atomic
def comment(*, actor: User, review: Review, text: str, model: MigratedModel | None = None,
            criterion: Criterion | None = None, answers: ReviewComment | None = None,
            is_internal: bool = False) -> ReviewComment:
    """A remark of the customer or of the team; possible until the document is signed.

    Args:
        criterion: it is about this criterion and its figure; must stand in the document.
        answers: the remark that it answers; a new answer opens a resolved one again.
        is_internal: visible to the team only; nobody is notified.
    """
    engagement = review.document.engagement
    require_move(actor, TRANSITIONS, review, ReviewAction.COMMENT)
    if not text.strip():
        raise InvalidInput(_("Enter a comment first."))
    if is_internal and actor.is_reviewer:
        raise NotAllowed(_("Only team members can write internal comments."))
    about = _about(review, engagement, model, criterion, _first(actor, review, answers))
    if answers and about["answers"].is_internal:
        is_internal = True
    made = ReviewComment.objects.create(review=review, author=actor, text=text.strip(),
                                        is_internal=is_internal, **about)
    ReviewComment.objects.filter(pk=made.answers_id).update(resolved_at=None, resolved_by=None)
    _record(actor, made, "review.note" if is_internal
            else TRANSITIONS[ReviewAction.COMMENT].audit.code)
    return made


def _first(actor: User, review: Review, answers: ReviewComment | None) -> ReviewComment | None:
    """The remark that began the exchange, if the actor may see it."""
    if answers is None:
        return None
    seen = ReviewComment.objects.visible_to(actor).filter(pk=answers.pk, review=review).first()
    if seen is None:
        raise InvalidInput(_("The comment belongs to another document."))
    return seen.answers or seen


def _about(review: Review, engagement: Engagement, model, criterion, first) -> dict:
    if first:
        return {"model": first.model, "criterion": first.criterion, "answers": first}
    if criterion and criterion.pk not in {row["criterion"] for row in
                                          review.document.snapshot.get("metrics", [])}:
        raise InvalidInput(_("The criterion is not part of this document."))
    model = criterion.model if criterion else model
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))
    return {"model": model, "criterion": criterion, "answers": None}


@transaction.atomic
def resolve_comment(*, actor: User, comment: ReviewComment) -> ReviewComment:
    """Mark a comment as settled, by the side that wrote it. Writes an audit entry."""
    review = comment.review
    require_move(actor, TRANSITIONS, review, ReviewAction.RESOLVE)
    found = ReviewComment.objects.visible_to(actor).select_for_update(
        of=("self",), no_key=True).filter(
        pk=comment.pk).first()
    if found is None or found.answers_id:
        raise InvalidInput(_("Choose the comment that started the thread."))
    if found.author.is_reviewer and not actor.is_reviewer:
        raise NotAllowed(_("Only the customer can resolve the customer's comments."))
    if found.resolved_at:
        raise WrongState(_("This comment has already been resolved."))
    found.resolved_at, found.resolved_by = timezone.now(), actor
    found.save(update_fields=["resolved_at", "resolved_by"])
    _record(actor, found, "review.note_resolve" if found.is_internal
            else TRANSITIONS[ReviewAction.RESOLVE].audit.code)
    return found


def _record(actor: User, comment: ReviewComment, action: str) -> None:
    document = comment.review.document
    audit_log.record(actor=actor, action=action, target=document, engagement=document.engagement,
                     data={"comment": comment.pk, "criterion": comment.criterion_id,
                           "answers": comment.answers_id})
