"""How long jobs of a kind usually take."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from statistics import median

from django.db.models import F, QuerySet

from workers.models import Job, JobState

HISTORY = 20  # past runs of a kind that its usual duration is taken from


class UsualDurations:
    """How long jobs of some kinds usually take; all are looked up at once."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        past = [self._past(kind) for kind in sorted({job.kind for job in jobs})]
        found = past[0].union(*past[1:], all=True) if past else ()
        self._known: dict[str, list[timedelta]] = defaultdict(list)
        for kind, took in found:
            if took is not None:
                self._known[kind].append(took)

    @staticmethod
    def _past(kind: str) -> QuerySet:
        """Kind and duration of its last runs; each kind's are read from an index."""
        newest = Job.objects.filter(kind=kind, state=JobState.SUCCEEDED).order_by("-pk")
        keys = newest.values("pk")[:HISTORY]
        return Job.objects.filter(pk__in=keys).order_by().values_list(
            "kind", F("finished_at") - F("started_at"))

    def of(self, job: Job) -> timedelta:
        """Median of the last runs of this kind; the time limit where there is none."""
        known = self._known.get(job.kind)
        return median(known) if known else timedelta(seconds=job.timeout_seconds)
