"""What no write announces: nodes found in quarantine, deadlines that come near."""

from datetime import datetime, timedelta

from django.urls import reverse
from django.utils import timezone

from delivery.acceptance.models import Condition, Review
from delivery.notices.event_kinds import KINDS
from delivery.notices.event_subjects import Subject
from delivery.notices.services.announcements import announce
from delivery.quotes.models import Quote
from engagements.models import AuditEntry, Engagement
from workers.models import Node

NEAR = timedelta(days=3)


def announce_due(now: datetime) -> None:
    """Announce each quarantine and each near deadline once."""
    announce_quarantines(now)
    announce_deadlines(now)
    announce_reviews(now)


def announce_quarantines(now: datetime) -> None:
    """A node quarantined since its key was last confirmed."""
    for node in Node.objects.filter(state=Node.State.QUARANTINED):
        confirmed = AuditEntry.objects.filter(
            action="node.confirm", target_type="workers.node", target_id=str(node.pk)).first()
        announce(kind=KINDS["node_quarantined"], at=now,
                 subject=Subject(node.name, reverse("workers:node", args=[node.pk])),
                 key=f"quarantine:{node.pk}:{confirmed.pk if confirmed else 0}")


def announce_deadlines(now: datetime) -> None:
    """Ends of engagements and trial periods, validity of issued quotes, due dates of issues."""
    today = timezone.localdate(now)
    days = (today, today + NEAR)
    for engagement in Engagement.objects.filter(
            state=Engagement.State.ACTIVE, ends_on__range=days):
        path = reverse("engagements:engagement", args=[engagement.code])
        _deadline(engagement, Subject(engagement.code, path), engagement.ends_on, now,
                  f"engagement:{engagement.pk}")
    for quote in Quote.objects.filter(state=Quote.State.ISSUED, valid_until__range=days
                                      ).select_related("engagement", "created_by"):
        path = reverse("quotes:quote", args=[quote.pk])
        _deadline(quote.engagement, Subject(str(quote), path, person=quote.created_by),
                  quote.valid_until, now, f"quote:{quote.pk}")
    for review in Review.objects.filter(trial_ends_on__range=days
                                        ).select_related("document__engagement"):
        path = reverse("acceptance:review", args=[review.document_id])
        _deadline(review.document.engagement, Subject(str(review.document), path),
                  review.trial_ends_on, now, f"trial:{review.pk}")
    for condition in Condition.objects.filter(closed_at=None, due_on__range=days
                                              ).select_related("review__document__engagement"):
        document = condition.review.document
        path = reverse("acceptance:review", args=[document.pk])
        _deadline(document.engagement, Subject(str(document), path), condition.due_on, now,
                  f"condition:{condition.pk}")


def announce_reviews(now: datetime) -> None:
    """Review periods, to both sides: when the end comes near, and on the last day."""
    today = timezone.localdate(now)
    waiting = Review.objects.filter(decision="", document__state="issued", due_on__gte=today,
                                    due_on__lte=today + NEAR)
    for review in waiting.select_related("document__engagement"):
        path = reverse("acceptance:review", args=[review.document_id])
        step = "last" if review.due_on == today else "near"
        announce(kind=KINDS["review_due"], engagement=review.document.engagement, at=now,
                 subject=Subject(str(review.document), path), day=review.due_on,
                 key=f"review:{review.pk}:{review.due_on.isoformat()}:{step}")


def _deadline(engagement: Engagement, subject: Subject, day, now: datetime, key: str) -> None:
    announce(kind=KINDS["deadline_near"], subject=subject, engagement=engagement, at=now,
             day=day, key=f"deadline:{key}:{day.isoformat()}")
