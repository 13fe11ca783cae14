"""What somebody did for a stage by jobs: who tunes does not judge (DOMAIN AR-11)."""

from collections.abc import Iterable

from django.utils.translation import ngettext

from engagements.involvement import register_involvement
from engagements.models import StageRecord, User
from workers.models import Job


@register_involvement("jobs")
def ran_jobs(record: StageRecord, user: User) -> Iterable[str]:
    """Jobs of this model in this stage that the user started."""
    count = Job.objects.whole().filter(
        model=record.model_id, stage=record.stage, created_by=user).count()
    if count:
        yield ngettext("You started %(n)d job in it.", "You started %(n)d jobs in it.", count) % {
            "n": count}
