"""Clusters that are asked over an API of theirs: Kubernetes, Volcano, ModelArts.

The job's folder lies on storage which the cluster's containers and the node that is logged in to
see under one path: command, log, inputs, files and exit status are as anywhere. The API is asked
by the desk itself: to start a job, under its folder's name; what became of it; to end it.
"""

import shlex
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from pathlib import Path

from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from toolreaders.number_parsing import whole_number
from workers.models import Job, Node
from workers.nodes import ssh
from workers.nodes.reachability import SchedulerAway
from workers.remote import replies, scripts
from workers.remote.replies import RemoteState
from workers.remote.scheduled import Scheduled
from workers.remote.survivors import Survivors
from workers.schedulers.base import Scheduler

_HERE = Path(__file__).parent
SPARE_SECONDS = 300  # the desk ends a job at its limit; the cluster does where the desk is away


class Refused(Exception):
    """The cluster does not take the job; the text is its own."""


@dataclass
class Heard:
    """What a job's folder tells of its container.

    Args:
        given: what the container noted when it began. is_fresh: the exit status is a minute old.
    """

    given: dict[str, str] = field(default_factory=dict)
    is_fresh: bool = False


class SharedFolder(Scheduler):
    """Base: the folder over SSH, the rest over the cluster's API."""

    @abstractmethod
    def submit(self, job: Job) -> str:
        """Start the job, at most once ever; its number in the cluster.

        Raises Refused, SchedulerAway.
        """

    @abstractmethod
    def scheduled_of(self, jobs: list[Job]) -> dict[int, Scheduled]:
        """What the cluster says of the jobs, by primary key. Raises SchedulerAway."""

    @abstractmethod
    def end(self, job: Job, signal: str) -> None:
        """Have all of the job ended: TERM leaves it time. Raises SchedulerAway."""

    @abstractmethod
    def running(self, job: Job) -> list[str]:
        """What of the job the cluster still shows. Raises SchedulerAway."""

    def require_usable(self, options):
        if not self.node.scheduler_secret:
            raise InvalidInput(_("“%(option)s” is missing.") % {
                "option": Node._meta.get_field("scheduler_secret").verbose_name})
        if not self.node.scratch_dir.startswith("/"):
            raise InvalidInput(_("The scratch folder of such a cluster is a path from / on, the "
                                 "same on the log-in node and in containers."))

    def visit_script(self, starting, polled, files_of=(), sample_seconds=0):
        """No samples: the node that is logged in to has no cards of the jobs."""
        place = starting[0][1][0] if starting else replies.place(polled[0])
        return (place.text() + (_starts([each for _job, each in starting]) if starting else "")
                + (_polls(polled, files_of) if polled else "") + "exit 0\n")

    def start_words(self, output, jobs):
        words = replies.start_words(output, jobs)
        return {job.pk: self._submitted(job) if words[job.pk] == ["placed"] else words[job.pk]
                for job in jobs}

    def _submitted(self, job: Job) -> list[str]:
        try:
            return ["submitted", self.submit(job)]
        except Refused as error:
            return ["scheduler", "refused", *str(error).split()]
        except SchedulerAway as error:
            return ["scheduler", "away", *str(error).split()]

    def read_states(self, output, jobs):
        states, end = replies.read_states(output, jobs)
        heard = _heard(output)
        reported = self.scheduled_of(jobs)
        return {job.pk: _joined(states[job.pk], reported.get(job.pk, Scheduled()),
                                heard[job.directory_name], _is_being_ended(job))
                for job in jobs}, end

    def signal(self, job, signal):
        ssh.run(job.access, scripts.fence_script(replies.place(job)))
        before = self.running(job)
        self.end(job, signal)
        return _survivors(self.running(job), ended=before)

    def survivors(self, job):
        return _survivors(self.running(job))


def batch_command(job: Job) -> list[str]:
    """What the container begins with."""
    scratch = job.node.scratch_dir
    batch = scripts.file_named_after_content("batch", _read("container_batch.sh"))
    return ["sh", f"{scratch}/{batch}", f"{scratch}/{job.directory_name}",
            f"{scratch}/{scripts.wrapper_file()}"]


def seconds_at_most(job: Job) -> int:
    """After which the cluster itself ends the job."""
    minutes = job.node.scheduler_options.get("minutes")
    return minutes * 60 if minutes else job.timeout_seconds + SPARE_SECONDS


def _survivors(names: Iterable[str], ended: Iterable[str] = ()) -> Survivors:
    return Survivors(True, ended=tuple(enumerate(ended, 1)), running=tuple(enumerate(names, 1)))


def _starts(starting: list[tuple[scripts.Place, str]]) -> str:
    """All stands in a function: of a script that arrives cut short, nothing is done."""
    directories = " ".join(scripts.quote(place.directory) for place, _text in starting)
    launches = [f"launch {scripts.quote(place.directory)} {shlex.quote(text)}\n"
                for place, text in starting]
    return (scripts.start_functions() + _read("place_command.sh")
            + scripts.named_after_content("batch", _read("container_batch.sh"))
            + f"start_all() {{\nprepare {directories}\n" + "".join(launches) + "}\nstart_all\n")


def _polls(polled: list[Job], files_of) -> str:
    calls = [" ".join(["look", scripts.quote(place.directory), str(int(offset)), str(int(limit)),
                       "files" if place.directory in files_of else "none"]) + "\n"
             for place, offset, limit in replies.poll_requests(polled)]
    return (scripts.poll_functions() + _read("look_at_folder.sh") + "".join(calls)
            + "report_all\n")


def _heard(output: bytes) -> dict[str, Heard]:
    """Logs, which may hold anything, come after the first line of a state."""
    found: dict[str, Heard] = defaultdict(Heard)
    for line in output.partition(b"desk desk-job-")[0].decode(errors="replace").splitlines():
        mark, word, name, *facts = [*line.split(), "", "", ""]
        if (mark, word) == ("desk", "fresh"):
            found[name].is_fresh = True
        elif (mark, word) == ("desk", "given"):
            found[name].given = dict(fact.split("=", 1) for fact in facts if "=" in fact)
    return found


def _is_being_ended(job: Job) -> bool:
    """Whether the desk has the job deleted: that the cluster does not know it any more is proof."""
    limit = job.started_at + timedelta(seconds=job.timeout_seconds) if job.started_at else None
    return bool(job.cancel_requested_at or (limit and timezone.now() > limit))


def _joined(state: RemoteState, reported: Scheduled, heard: Heard, is_being_ended: bool
            ) -> RemoteState:
    """The folder's state together with the cluster's word. A container outlives its command by a
    moment: the exit status is believed once it has ended, or is a minute old."""
    is_alive = reported.is_live if reported.state or is_being_ended else state.process == "alive"
    cards = [number for part in heard.given.get("cards", "").split(",")
             if (number := whole_number(part)) is not None]
    scheduled = replace(
        reported, has_begun=bool(heard.given), cards=cards,
        cards_source=heard.given.get("source", ""),
        nodes=reported.nodes or heard.given.get("nodes", ""))
    return replace(state, process="alive" if is_alive else "gone", scheduled=scheduled,
                   exit_status=None if is_alive and heard.is_fresh else state.exit_status)


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text()
