"""What somebody did for a stage by jobs: who tunes does not judge (DOMAIN AR-11)."""

from collections.abc import Iterable

from django.db.models import OuterRef, QuerySet
from django.utils.translation import ngettext

from engagements.involvement import register_involvement
from engagements.models import StageRecord, User
from engagements.stage_activity import register_stage_activity
from workers.models import Job


@register_involvement("jobs")
def ran_jobs(record: StageRecord, user: User) -> Iterable[str]:
    """Jobs of this model in this stage that the user started."""
    count = Job.objects.whole().filter(
        model=record.model_id, stage=record.stage, created_by=user).count()
    if count:
        yield ngettext("You started %(n)d job in it.", "You started %(n)d jobs in it.", count) % {
            "n": count}


@register_stage_activity("jobs")
def jobs_of_stage() -> QuerySet:
    """Jobs of the stage's model in it, whoever started them."""
    return Job.objects.filter(model=OuterRef("model"), stage=OuterRef("stage"))
