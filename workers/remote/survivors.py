"""What still runs of a job, as the scripts of `remote/survivors.sh` print it."""

from dataclasses import dataclass

from toolreaders.environment.npu_smi import Snapshot
from toolreaders.number_parsing import whole_number
from workers.nodes import ssh

Process = tuple[int, str]  # number and name
PROCESSES_LISTED = 20


@dataclass(frozen=True)
class Survivors:
    """What a node found of a job.

    `ended` were signalled; `running` run afterwards; `on_cards` are all processes that npu-smi
    shows, with the NPU's id before number and name. `is_known` is False for a job whose process
    the node does not know. `is_held` says that something holds whatever the job started, as a
    control group does: without it, what left its tree before the first look is not found.
    `tracking` is how a cluster's scheduler holds processes.
    """

    is_known: bool
    ended: tuple[Process, ...] = ()
    running: tuple[Process, ...] = ()
    on_cards: tuple[tuple[int, int, str], ...] = ()
    is_held: bool = True
    tracking: str = ""

    @property
    def is_gone(self) -> bool:
        return self.is_known and not self.running


def parse(answer: ssh.Answer) -> Survivors:
    """Raises AnswerIncomplete where the answer does not say how many are left."""
    text, _mark, cards = answer.stdout.decode(errors="replace").partition("desk cards\n")
    words = [line.split(maxsplit=3)[1:] for line in text.splitlines()
             if line.startswith("desk ")]
    left = next((word[1] for word in words if word[0] == "left" and len(word) > 1), None)
    if left is None:
        raise ssh.AnswerIncomplete(answer)
    running, snapshot = _processes("process", words), Snapshot(None, None, 0)
    for number, line in enumerate(cards.splitlines(), 1):
        snapshot.take(number, line)
    tracking = next((word[1] for word in words if word[0] == "tracking" and len(word) > 1), "")
    return Survivors(left == str(len(running)), _processes("ended", words), running,
                     tuple((entry["npu"], entry["pid"], entry["name"])
                           for entry in snapshot.processes),
                     is_held=["held"] in words or tracking.endswith("/cgroup"), tracking=tracking)


def _processes(kind: str, words: list[list[str]]) -> tuple[Process, ...]:
    return tuple((number, word[2].strip() if len(word) > 2 else "?") for word in words
                 if word[0] == kind and len(word) > 1
                 and (number := whole_number(word[1])) is not None)


def listed(processes: tuple[Process, ...]) -> str:
    """Numbers and names in one line, the first twenty of them."""
    more = " …" if len(processes) > PROCESSES_LISTED else ""
    return ", ".join(f"{number} ({name})" for number, name in processes[:PROCESSES_LISTED]) + more
