"""Jobs and engagements on the front page."""

from django.db.models import QuerySet

from engagements.access import Can, allowed
from engagements.models import Engagement, User
from engagements.queries import with_progress
from workers.models import Job, JobState


def troubled_jobs(user: User) -> QuerySet:
    """Jobs of others that ended badly or cannot be reached, newest first; one's own wait above."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return Job.objects.none()
    return Job.objects.whole().visible_to(user).filter(
        state__in=[JobState.FAILED, JobState.LOST, JobState.TIMED_OUT, JobState.UNKNOWN],
        retries=None).exclude(created_by=user).select_related("engagement", "model", "node")


def running_jobs(user: User) -> QuerySet:
    """Jobs on their way."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return Job.objects.none()
    return Job.objects.whole().visible_to(user).in_flight().select_related(
        "engagement", "model", "node")


def my_engagements(user: User) -> QuerySet:
    """Visible engagements with their progress."""
    return with_progress(Engagement.objects.visible_to(user))
