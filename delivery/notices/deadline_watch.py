"""What no write announces: nodes found in quarantine, deadlines that come near.

Looked for again and again, so what was announced before costs a key in a query, and no more rows
than a portion are held at once.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from delivery.acceptance.models import Condition, Review
from delivery.notices.event_kinds import KINDS
from delivery.notices.event_subjects import Subject
from delivery.notices.models import Event
from delivery.notices.services.announcements import announce
from delivery.quotes.models import Quote
from delivery.reports.models import Document
from engagements.models import AuditEntry, Engagement
from workers.models import Node

NEAR = timedelta(days=3)
PORTION = 500
Announcement = dict[str, Any]  # what `announce` is told, without the time


def announce_due(now: datetime) -> None:
    """Announce each quarantine and each near deadline once."""
    found = _found(timezone.localdate(now))
    while portion := list(islice(found, PORTION)):
        known = set(Event.objects.filter(key__in=[one["key"] for one in portion]).values_list(
            "key", flat=True))
        for one in portion:
            if one["key"] not in known:
                announce(at=now, **one)


def _found(today: date) -> Iterator[Announcement]:
    yield from _quarantines()
    yield from _engagements(today)
    yield from _quotes(today)
    yield from _trial_periods(today)
    yield from _conditions(today)
    yield from _reviews(today)
    yield from _repeated_inspections(today)


def _each(rows: QuerySet, document: str = "") -> Iterator:
    """The rows, a portion at a time, without the facts of the document that they lead to."""
    if document:
        rows = rows.select_related(f"{document}__engagement").defer(
            f"{document}__snapshot", f"{document}__words")
    return rows.iterator(chunk_size=PORTION)


def _quarantines() -> Iterator[Announcement]:
    """A node quarantined since its key was last confirmed."""
    for node in Node.objects.filter(state=Node.State.QUARANTINED):
        confirmed = AuditEntry.objects.filter(
            action="node.confirm", target_type="workers.node", target_id=str(node.pk)).first()
        yield {"kind": KINDS["node_quarantined"],
               "subject": Subject(node.name, reverse("workers:node", args=[node.pk])),
               "key": f"quarantine:{node.pk}:{confirmed.pk if confirmed else 0}"}


def _engagements(today: date) -> Iterator[Announcement]:
    for row in _each(Engagement.objects.filter(
            state=Engagement.State.ACTIVE, ends_on__range=(today, today + NEAR))):
        path = reverse("engagements:engagement", args=[row.code])
        yield _deadline(row, Subject(row.code, path), row.ends_on, f"engagement:{row.pk}")


def _quotes(today: date) -> Iterator[Announcement]:
    """Validity of issued quotes."""
    rows = Quote.objects.filter(state=Quote.State.ISSUED,
                                valid_until__range=(today, today + NEAR))
    for row in _each(rows.select_related("engagement", "created_by")):
        path = reverse("quotes:quote", args=[row.pk])
        yield _deadline(row.engagement, Subject(str(row), path, person=row.created_by),
                        row.valid_until, f"quote:{row.pk}")


def _trial_periods(today: date) -> Iterator[Announcement]:
    rows = Review.objects.filter(trial_ends_on__range=(today, today + NEAR))
    for row in _each(rows, "document"):
        yield _deadline(row.document.engagement, _subject(row), row.trial_ends_on,
                        f"trial:{row.pk}")


def _conditions(today: date) -> Iterator[Announcement]:
    """Issues that a customer's decision left open."""
    rows = Condition.objects.filter(closed_at=None, due_on__range=(today, today + NEAR))
    for row in _each(rows, "review__document"):
        yield _deadline(row.review.document.engagement, _subject(row.review), row.due_on,
                        f"condition:{row.pk}")


def _reviews(today: date) -> Iterator[Announcement]:
    """Review periods, to both sides: when the end comes near, and on the last day."""
    rows = Review.objects.filter(decision="", document__state="issued",
                                 due_on__range=(today, today + NEAR))
    for row in _each(rows, "document"):
        step = "last" if row.due_on == today else "near"
        yield {"kind": KINDS["review_due"], "engagement": row.document.engagement,
               "subject": _subject(row), "day": row.due_on,
               "key": f"review:{row.pk}:{row.due_on.isoformat()}:{step}"}


def _repeated_inspections(today: date) -> Iterator[Announcement]:
    """The day that the customer named for what was rejected, while no newer version replaces it."""
    rows = Review.objects.filter(retest_on__range=(today, today + NEAR),
                                 document__state__in=Document.IN_FORCE)
    for row in _each(rows, "document"):
        yield {"kind": KINDS["retest_due"], "engagement": row.document.engagement,
               "subject": _subject(row), "day": row.retest_on,
               "key": f"retest:{row.pk}:{row.retest_on.isoformat()}"}


def _subject(review: Review) -> Subject:
    path = reverse("acceptance:review", args=[review.document_id])
    return Subject(str(review.document), path)


def _deadline(engagement: Engagement, subject: Subject, day: date, key: str) -> Announcement:
    return {"kind": KINDS["deadline_near"], "subject": subject, "engagement": engagement,
            "day": day, "key": f"deadline:{key}:{day.isoformat()}"}
