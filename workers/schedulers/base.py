"""What dispatch asks of a scheduler. Scripts run on the node that is logged in to.

One script submits and polls all jobs of a node. A job is submitted at most once, under its
directory's name, which never changes; whoever asks again learns what became of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection

from workers.models import Job, Node
from workers.nodes import ssh
from workers.remote.replies import RemoteState
from workers.remote.scripts import Place
from workers.remote.survivors import Survivors


class Scheduler(ABC):
    """The scheduler of one node's jobs."""

    leases_cards = False  # whether the desk chooses the cards

    def __init__(self, node: Node) -> None:
        self.node = node

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

    @abstractmethod
    def read_states(self, output: bytes, jobs: list[Job]) -> tuple[dict[int, RemoteState], int]:
        """The states by primary key, and where in the answer they end. Raises Unreachable."""

    @abstractmethod
    def cancel_script(self, place: Place, signal: str) -> str:
        """Script that signals all of a job, or keeps it from ever starting."""

    @abstractmethod
    def survivors_script(self, place: Place, has_cards: bool) -> str:
        """Script that says what of a job runs, and what is on its cards."""

    @abstractmethod
    def survivors(self, answer: ssh.Answer) -> Survivors:
        """What the two last scripts said. Raises Unreachable."""

    def probe_script(self) -> str:
        """Script that says what the cluster is; empty for a plain node."""
        return ""

    def probed(self, output: bytes) -> dict:
        """What that script said. Raises Unreachable where the scheduler does not answer."""
        return {}

    def ask(self, job: Job) -> RemoteState:
        """Poll one job. Raises what `workers.nodes.ssh.run` raises."""
        answer = ssh.run(job.access, self.visit_script([], [job]))
        return self.read_states(answer.stdout, [job])[0][job.pk]
