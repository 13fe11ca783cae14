"""What a node says about its jobs, as `remote/poll.sh` prints it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import unquote

from toolreaders.number_parsing import whole_number
from workers.models import IN_CONTAINERS, Job
from workers.nodes import ssh
from workers.remote import scripts
from workers.remote.scheduled import Scheduled

CONTAINER_FACTS = ("engine", "image", "digests", "labels", "container", "started_at", "exit_code",
                   "oom_killed", "finished_at")
LOG_CHUNK, SMALLEST_CHUNK = 512 * 1024, 64 * 1024
STATUS_DIGITS, SECONDS_DIGITS = 3, 10  # a POSIX exit status; seconds until the year 2286


@dataclass(frozen=True)
class RemoteState:
    """The state of one job.

    `process` is alive, orphans (the wrapper is gone, others of its session run) or gone; `size`
    is the log's length in bytes; `chunk` the log from `offset` on; `oom_kills` how often the
    kernel ended a process of the node for want of memory while a job that failed ran;
    `container` what its engine says of an ended one; `scheduled` what a cluster's scheduler says.
    """

    is_present: bool
    exit_status: int | None
    process: str
    heartbeat_at: datetime | None
    node_time: datetime | None
    size: int
    boot_id: str
    offset: int
    chunk: bytes
    line: str
    oom_kills: int = 0
    container: dict[str, str] = field(default_factory=dict)
    scheduled: Scheduled | None = None

    @property
    def has_more_log(self) -> bool:
        return self.offset + len(self.chunk) < self.size

    @property
    def has_ended(self) -> bool:
        """The command left its exit status, nothing of it runs, and its log is here as a whole."""
        return (self.exit_status is not None and self.process == "gone"
                and not self.has_more_log)

    def is_lost(self, started: dict) -> bool:
        """Proof that the job will never report: nothing of it runs and it left no status."""
        if self.exit_status is not None:
            return False
        return self.is_of_another_boot(started) or self.process == "gone"

    def is_of_another_boot(self, started: dict) -> bool:
        """Proof that the node restarted since the job began."""
        return bool(self.boot_id) and self.boot_id != started.get("boot_id", self.boot_id)


def poll_requests(jobs: list[Job]) -> list[tuple[scripts.Place, int, int]]:
    """What is wanted of the log of jobs of one node; the more jobs, the less of each."""
    limit = max(SMALLEST_CHUNK, LOG_CHUNK // max(1, len(jobs)))
    return [(place(job), job.log_offset, limit) for job in jobs]


def place(job: Job) -> scripts.Place:
    """Where the job lives on its node."""
    known = tuple(str(job.remote.get(key) or "") for key in ("pid", "start_time", "boot_id"))
    return scripts.Place(job.node.scratch_dir, job.directory_name, known if all(known) else (),
                         job.runtime.get("place") in IN_CONTAINERS
                         and not job.node.makes_containers)


def ask(job: Job) -> RemoteState:
    """Poll one job. Raises what `workers.nodes.ssh.run` raises."""
    script = scripts.poll_script([], poll_requests([job]))
    return parse(ssh.run(job.access, script).stdout, [job])[job.pk]


def start_words(output: bytes, jobs: list[Job]) -> dict[int, list[str]]:
    """What the node reports of each start, in words, by primary key: `started` with pid, start time
    and boot id; `refused` with a reason; `slow`.

    Raises AnswerIncomplete if the answer is not complete.
    """
    words = {}
    for job in jobs:
        mark = f"desk start {job.directory_name} ".encode()
        start = output.find(mark)
        end = output.find(b"\n", start)
        if start < 0 or end < 0:
            raise ssh.AnswerIncomplete(output)
        words[job.pk] = output[start + len(mark):end].decode(errors="replace").split()
    return words


def parse(output: bytes, jobs: list[Job]) -> dict[int, RemoteState]:
    """The states by primary key. Raises AnswerIncomplete if it is not whole."""
    return read_states(output, jobs)[0]


def read_states(output: bytes, jobs: list[Job]) -> tuple[dict[int, RemoteState], int]:
    """The states by primary key, and where in the answer they end. Raises
    AnswerIncomplete."""
    by_name = {job.directory_name: job for job in jobs}
    states, position = {}, 0
    while len(states) < len(jobs):
        start = output.find(b"desk desk-job-", position)
        end = output.find(b"\n", start)
        if start < 0 or end < 0:
            raise ssh.AnswerIncomplete(output)
        line = output[start:end].decode(errors="replace")
        _mark, name, *words = line.split()
        facts = dict(word.split("=", 1) for word in words if "=" in word)
        length = whole_number(facts.get("log", "0"))
        if length is None or len(output) < (position := end + 1 + length):
            raise ssh.AnswerIncomplete(output)
        if name in by_name:
            states[by_name[name].pk] = _state(
                facts, by_name[name].log_offset, output[end + 1:position], line)
    return states, position


def _state(facts: dict[str, str], offset: int, chunk: bytes, line: str) -> RemoteState:
    # `name value` of each line, percent-encoded and ended by `&`; the last of a name counts.
    container = (unquote(each).partition(" ")
                 for each in facts.get("facts", "").split("&") if each)
    return RemoteState(
        is_present=facts.get("present") == "yes", process=facts.get("process", "gone"),
        exit_status=whole_number(facts.get("status"), STATUS_DIGITS),
        heartbeat_at=_time(facts.get("beat")), node_time=_time(facts.get("now")),
        size=whole_number(facts.get("size")) or 0, boot_id=facts.get("boot", ""), offset=offset,
        chunk=chunk, line=line, oom_kills=whole_number(facts.get("oom")) or 0,
        container={name: value for name, _space, value in container if name in CONTAINER_FACTS})


def _time(seconds: str | None) -> datetime | None:
    number = whole_number(seconds, SECONDS_DIGITS)
    return datetime.fromtimestamp(number, UTC) if number else None
