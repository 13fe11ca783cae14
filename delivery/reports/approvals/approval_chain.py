"""Whose turn it is with a document (DOMAIN 9.11): the chain of its kind, and who may take it."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from delivery.reports import registry
from delivery.reports.approvals.approval_steps import is_for
from delivery.reports.approvals.document_duties import DUTIES, sole_tester
from delivery.reports.models import ApprovalTurn, Document, Step
from engagements.access import allowed
from engagements.duties import Duty, conflict
from engagements.models import Engagement, User
from engagements.permissions import PERMISSIONS

Action = Step.Action


def open_turns(document: Document) -> QuerySet[ApprovalTurn]:
    """Reviews that are due now: those of the first position where one is missing."""
    left = document.turns.filter(action=Action.REVIEW, done_by=None)
    first = left.values_list("position", flat=True).first()
    return left.filter(position=first)


def approval_of(document: Document) -> ApprovalTurn | None:
    """The turn of whoever approves; None for a document that was never submitted."""
    return document.turns.filter(action=Action.APPROVE).first()


def turn_of(user: User, document: Document) -> ApprovalTurn | None:
    """The review that the user may do now; None if there is none."""
    if not can_review(user, document):
        return None
    return next((turn for turn in open_turns(document) if is_for(user, turn)), None)


def is_author(user: User, document: Document) -> bool:
    """Whether the user wrote or submitted the document."""
    return user.pk in (document.created_by_id, document.submitted_by_id)


def can_review(user: User, document: Document) -> bool:
    """Did no other step, within the firm and the engagement, and not asked twice."""
    return not conflict(DUTIES, user, document, Duty.REVIEWER) and not (
        document.turns.filter(done_by=user).exists()) and (
        Engagement.objects.visible_to(user).filter(pk=document.engagement_id).exists())


def waits_for(user: User, document: Document) -> bool:
    """Whether a submitted document is the user's to review, or a reviewed one to approve.

    As the table of transitions says, but asked of rows that are read already: for lists of
    documents that the user may see, with their `turns` prefetched.
    """
    turns = list(document.turns.all())
    if document.state == Document.State.REVIEWED:
        due = [turn for turn in turns if turn.action == Action.APPROVE][:1]
        return (allowed(user, registry.get(document.kind).issued_by)
                and all(is_for(user, one) for one in due)
                and not conflict(DUTIES, user, document, Duty.APPROVER))
    if any(turn.done_by_id == user.pk for turn in turns):
        return False
    left = [turn for turn in turns if turn.action == Action.REVIEW and not turn.done_by_id]
    due = [turn for turn in left if turn.position == left[0].position]
    return any(is_for(user, one) for one in due) and (
        not conflict(DUTIES, user, document, Duty.REVIEWER))


def perhaps_waits_for(user: User) -> Q:
    """Documents that somebody else wrote, with a turn left that may be the user's.

    `waits_for` decides; this keeps lists from reading every document that is in review.
    """
    turns = ApprovalTurn.objects.filter(
        Q(holder__in=[user.pk, *user.stands_in_for]) | Q(holder=None, role__in=["", user.role]),
        document=OuterRef("pk"), done_by=None)
    return ~Q(created_by=user) & Q(Exists(turns))


def colleagues(document: Document) -> QuerySet[User]:
    """Members of the engagement whom a review may be handed to."""
    roles = [role for role in PERMISSIONS if role != "reviewer"]
    done = document.turns.exclude(done_by=None).values("done_by")
    return User.objects.filter(
        memberships__engagement=document.engagement_id, role__in=roles, is_active=True,
    ).exclude(pk__in=[document.created_by_id, document.submitted_by_id or 0,
                      sole_tester(document) or 0]).exclude(pk__in=done).order_by("full_name", "pk")
