"""Jobs and engagements on the front page, and what the user waits for."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from delivery.planning.models import ChangeRequest
from delivery.quotes.models import Quote
from delivery.reports.models import Document
from engagements.access import Can, allowed
from engagements.models import Engagement, ModelProgress, User
from engagements.queries import with_progress
from engagements.stages import StageState
from workers.models import Job
from workers.models.job import FINAL_STATES

SHOWN = 8
LINE = ("kind", "state", "message", "message_values", "progress_done", "progress_total",
        "engagement__code", "model__code")  # what a job's line shows


def troubled_jobs(user: User) -> QuerySet:
    """Jobs of others that ended badly or cannot be reached, newest first; one's own wait above."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return Job.objects.none()
    return Job.objects.whole().visible_to(user).in_trouble().exclude(
        created_by=user).only(*LINE).select_related("engagement", "model")


def running_jobs(user: User) -> QuerySet:
    """Jobs on their way."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return Job.objects.none()
    return Job.objects.whole().visible_to(user).in_flight().only(*LINE).select_related(
        "engagement", "model")


def finished_jobs(user: User, now: datetime | None = None) -> QuerySet:
    """Jobs that ended since the beginning of yesterday, newest first; for who works on them."""
    if not allowed(user, Can.WORK):
        return Job.objects.none()
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return Job.objects.whole().visible_to(user).filter(
        state__in=FINAL_STATES, finished_at__gte=midnight - timedelta(days=1)).order_by(
        "-finished_at").only(*LINE).select_related("engagement", "model")


def my_engagements(user: User, most: int) -> QuerySet:
    """The newest visible engagements with their progress, which is summed up of these alone."""
    newest = Engagement.objects.visible_to(user).order_by("-created_at", "code")
    return with_progress(Engagement.objects.filter(pk__in=newest.values("pk")[:most]))


@dataclass(frozen=True)
class Handed:
    """What the user handed on and somebody else has to decide on."""

    title: str
    state: str
    url: str
    since: datetime | None


def handed_on(user: User) -> list[Handed]:
    """Stages, quotes, documents and changes that wait for others since the user submitted them;
    the longest waiting first. One query for each."""
    found = [*_stages(user), *_quotes(user), *_documents(user), *_changes(user)]
    return sorted(found, key=lambda row: (row.since is None, row.since))[:SHOWN]


def _stages(user: User):
    """Of models under way whose open stage the user moved last, by submitting it."""
    for row in ModelProgress.objects.visible_to(user).under_way().filter(
            moved_by=user, state=StageState.SUBMITTED).select_related(
            "engagement", "model").order_by("open_since")[:SHOWN]:
        code = row.engagement.code
        yield Handed(f"{code} · {row.model} · {row.get_stage_display()}", row.get_state_display(),
                     reverse("engagements:stage", args=[code, row.model.code, row.stage]),
                     row.open_since)


def _quotes(user: User):
    waiting = (Quote.State.IN_REVIEW, Quote.State.REVIEWED, Quote.State.ISSUED)
    for row in Quote.objects.visible_to(user).filter(created_by=user, state__in=waiting).defer(
            "snapshot").order_by("created_at")[:SHOWN]:
        yield Handed(str(row), row.get_current_state_display(),
                     reverse("quotes:quote", args=[row.pk]), row.issued_at or row.created_at)


def _documents(user: User):
    waiting = (Document.State.IN_REVIEW, Document.State.REVIEWED)
    for row in Document.objects.visible_to(user).without_facts().filter(
            submitted_by=user, state__in=waiting).select_related("engagement").order_by(
            "submitted_at")[:SHOWN]:
        yield Handed(str(row), row.get_state_display(), reverse("reports:document", args=[row.pk]),
                     row.submitted_at)


def _changes(user: User):
    for row in ChangeRequest.objects.visible_to(user).filter(
            created_by=user, state=ChangeRequest.State.SUBMITTED).select_related(
            "engagement").order_by("submitted_at")[:SHOWN]:
        yield Handed(str(row), row.get_state_display(), reverse("planning:change", args=[row.pk]),
                     row.submitted_at)
