"""Which jobs may take what a job left, with their parameters filled in."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from workers import kinds
from workers.kinds import JobKind
from workers.models import Job, JobState


@dataclass(frozen=True)
class FollowUp:
    """A kind that takes the files, and the parameters that name them."""

    kind: JobKind
    parameters: dict[str, Any] = field(default_factory=dict)
    place: tuple[str, str] = ("", "")  # of the form: model or engagement, and its key

    @property
    def url(self) -> str:
        """The form with these values."""
        query = urlencode([self.place, ("kind", self.kind.code), *self.parameters.items()])
        return f"{reverse('workers:job_new')}?{query}"


def follow_ups(job: Job) -> list[FollowUp]:
    """What may follow a job that succeeded on a node.

    A kind that takes two jobs of one kind (a baseline and a candidate) gets the newest other one of
    the model as well; a job that is proven to have used an NPU is the candidate, which such kinds
    name first.
    """
    if job.state != JobState.SUCCEEDED or job.engagement_id is None or job.gang_id:
        return []
    found = []
    for kind in kinds.all_kinds():
        names = [p.name for p in kind.parameters if job.kind in p.takes]
        if names:
            jobs = _in_order(job, _counterpart(job) if len(names) > 1 else None)
            found.append(FollowUp(kind, {name: reference_to(each)
                                         for name, each in zip(names, jobs, strict=False)},
                                  ("model", str(job.model_id)) if job.model_id
                                  else ("engagement", job.engagement.code)))
    return found


def reference_to(job: Job) -> str:
    """What of the job's stored files another job takes."""
    names = list(job.artifacts.order_by("name").values_list("name", flat=True))
    path = kinds.of_job(job).handed_over(names)
    return f"desk:job/{job.pk}" + (f"/{path}" if path else "")


def _counterpart(job: Job) -> Job | None:
    """The newest other one, rather on another node."""
    others = Job.objects.whole().filter(
        kind=job.kind, engagement=job.engagement, model=job.model, state=JobState.SUCCEEDED,
    ).exclude(pk=job.pk)
    return others.exclude(node=job.node).first() or others.first()


def _in_order(job: Job, other: Job | None) -> list[Job]:
    if other is None:
        return [job]
    return sorted([job, other], key=lambda each: not each.results.get("device"))
