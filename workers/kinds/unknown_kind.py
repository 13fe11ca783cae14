"""Stands in for a kind that is no longer registered, so that its jobs stay readable and end."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_noop

from engagements.errors import InvalidInput
from workers.kinds.base import Finished, JobKind, Judgement, get

if TYPE_CHECKING:
    from workers.models import Job

SENTENCE = gettext_noop(
    "This version of the desk does not know the job kind “%(kind)s”: such a job is neither "
    "started nor judged.")


class UnknownKind(JobKind):
    """Follows what runs, keeps the log, starts nothing, judges nothing."""

    is_known = False
    reads_log = False

    def __init__(self, job: "Job") -> None:
        self.code = self.title = job.kind
        self.runs_on_node = job.node_id is not None

    def conclude(self, finished: Finished) -> Judgement:
        return Judgement(False, SENTENCE, {"kind": self.code})

    def run_here(self, job: "Job", parameters: dict) -> tuple[Judgement, dict[str, bytes]]:
        return Judgement(False, SENTENCE, {"kind": self.code}), {}


def of_job(job: "Job") -> JobKind:
    """The kind of a job that exists already, whatever its code."""
    try:
        return get(job.kind)
    except InvalidInput:
        return UnknownKind(job)
