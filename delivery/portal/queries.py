"""What waits for whom."""

from django.db.models import QuerySet

from engagements.access import Can, allowed
from engagements.models import Engagement, StageRecord, User
from engagements.queries import with_progress
from engagements.stages import StageState
from workers.models import Job, JobState

ACTIVE_STATES = (StageState.SENT_BACK, StageState.IN_PROGRESS)


def waiting_stages(user: User) -> QuerySet:
    """Stages for this user: submitted ones for who may pass them, open ones for who works."""
    records = StageRecord.objects.visible_to(user).select_related("model__engagement")
    if allowed(user, Can.MANAGE):
        return records.filter(state=StageState.SUBMITTED).order_by("submitted_at")
    if allowed(user, Can.WORK):
        return records.filter(state__in=ACTIVE_STATES).order_by("started_at")
    return records.none()


def troubled_jobs(user: User) -> QuerySet:
    """Jobs that ended badly or cannot be reached, newest first."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return Job.objects.none()
    return Job.objects.visible_to(user).filter(
        state__in=[JobState.FAILED, JobState.LOST, JobState.TIMED_OUT, JobState.UNKNOWN],
        retries=None).select_related("engagement", "model", "node")


def running_jobs(user: User) -> QuerySet:
    """Jobs on their way."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return Job.objects.none()
    return Job.objects.visible_to(user).in_flight().select_related("engagement", "node")


def my_engagements(user: User) -> QuerySet:
    """Visible engagements with their progress."""
    return with_progress(Engagement.objects.visible_to(user))
