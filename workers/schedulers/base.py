"""What dispatch asks of a scheduler. Scripts run on the node that is logged in to.

One script submits and polls all jobs of a node. A job is submitted at most once, under its
directory's name, which never changes; whoever asks again learns what became of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Protocol

from workers.models import Job, Node
from workers.nodes import ssh
from workers.remote import replies
from workers.remote.replies import RemoteState
from workers.remote.scheduled import Scheduled
from workers.remote.scripts import Place
from workers.remote.survivors import Survivors


class Sentences(Protocol):
    """A module that puts a cluster's words about a job into sentences."""

    def is_waiting(self, scheduled: Scheduled) -> bool:
        """Whether the cluster has the job and has not begun it."""

    def waiting(self, scheduled: Scheduled) -> tuple[str, dict]:
        """Message and values for a job that waits."""

    def is_over(self, scheduled: Scheduled) -> bool:
        """Whether the cluster calls the job ended, however it ended."""

    def ended_itself(self, scheduled: Scheduled) -> bool:
        """Whether the command ended by itself: its exit status is about to be seen."""

    def ended(self, scheduled: Scheduled) -> tuple[str, str, dict]:
        """State, message and values for a job that left no exit status and runs no more."""

    def overrides(self, scheduled: Scheduled) -> tuple[str, str, dict] | None:
        """The same for a job that left one, where the cluster knows a truer cause."""


class Scheduler(ABC):
    """The scheduler of one node's jobs."""

    leases_cards = False  # whether the desk chooses the cards
    sentences: Sentences | None = None  # None for the desk's own queue

    def __init__(self, node: Node) -> None:
        self.node = node

    def require_usable(self, options: dict) -> None:
        """Raises InvalidInput where the node lacks what this kind needs besides its options."""
        return

    def require_limit(self, seconds: int) -> None:
        """Raises InvalidInput for a time limit with which the scheduler would never start a job."""
        return

    @abstractmethod
    def visit_script(self, starting: list[tuple[Job, tuple[Place, str]]], polled: list[Job],
                     files_of: Collection[str] = (), sample_seconds: int = 0) -> str:
        """Script that hands over jobs, each at most once ever, and asks for the state of others.

        Args:
            starting: with their places and the texts of their commands.
            files_of: directories of `polled` whose files are listed if the job has ended.
            sample_seconds: between two looks at the cards; 0 for none.
        The answer is one line `desk start` per job of `starting` (see `replies.start_words`), then
        what `read_states` understands.
        """

    def start_words(self, output: bytes, jobs: list[Job]) -> dict[int, list[str]]:
        """What became of each start, as `replies.start_words`, which see. A cluster's words:
        `submitted` with its number; `scheduler` with `refused` or `away`, and why."""
        return replies.start_words(output, jobs)

    @abstractmethod
    def read_states(self, output: bytes, jobs: list[Job]) -> tuple[dict[int, RemoteState], int]:
        """The states by primary key, and where in the answer they end. Raises Unreachable."""

    @abstractmethod
    def signal(self, job: Job, signal: str) -> Survivors:
        """Send TERM or KILL to all of a job, or keep it from ever starting. Returns what is left.

        Raises Unreachable.
        """

    @abstractmethod
    def survivors(self, job: Job) -> Survivors:
        """What of a job runs, and what is on its cards. Raises Unreachable."""

    def probed(self, access: ssh.Access) -> dict:
        """What the cluster is, for its page; nothing for a plain node.

        Raises Unreachable where the scheduler does not answer.
        """
        return {}

    def ask(self, job: Job) -> RemoteState:
        """Poll one job. Raises what `workers.nodes.ssh.run` raises."""
        answer = ssh.run(job.access, self.visit_script([], [job]))
        return self.read_states(answer.stdout, [job])[0][job.pk]
