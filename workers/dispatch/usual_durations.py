"""How long jobs of a kind usually take."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from statistics import median

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from workers.models import Job, JobState

HISTORY = 20  # past runs of a kind that its usual duration is taken from


class UsualDurations:
    """How long jobs of some kinds usually take; all are looked up at once."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        newest = Window(RowNumber(), partition_by="kind", order_by="-pk")
        past = Job.objects.filter(
            kind__in={job.kind for job in jobs}, state=JobState.SUCCEEDED).annotate(
            took=F("finished_at") - F("started_at"), number=newest).filter(
            number__lte=HISTORY).order_by().values_list("kind", "took")
        self._known: dict[str, list[timedelta]] = defaultdict(list)
        for kind, took in past:
            if took is not None:
                self._known[kind].append(took)

    def of(self, job: Job) -> timedelta:
        """Median of the last runs of this kind; the time limit where there is none."""
        known = self._known.get(job.kind)
        return median(known) if known else timedelta(seconds=job.timeout_seconds)
