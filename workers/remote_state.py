"""What a node says about a job, as `remote/poll.sh` prints it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from workers import remote, ssh
from workers.models import Job


@dataclass(frozen=True)
class RemoteState:
    """One answer of the poll script.

    `process` is alive, orphans (the wrapper died, its children run) or gone; `size` is the
    log's length in bytes; `chunk` the log from `offset` on.
    """

    is_present: bool
    exit_status: int | None
    process: str
    heartbeat_at: datetime | None
    size: int
    boot_id: str
    offset: int
    chunk: bytes
    line: str

    @classmethod
    def ask(cls, job: Job, limit: int) -> "RemoteState":
        """Poll the node. Raises what `workers.ssh.run` raises."""
        answer = ssh.run(job.node, remote.poll_script(
            job.node.scratch_dir, job.directory_name, job.log_offset, limit))
        return cls.parse(answer.stdout, job.log_offset)

    @classmethod
    def parse(cls, output: bytes, offset: int) -> "RemoteState":
        """Parse the output. Raises Unreachable if the marker line is missing."""
        start = output.find(b"desk ")
        if start < 0:
            raise ssh.Unreachable("the node answered without the expected line")
        line, _newline, chunk = output[start:].partition(b"\n")
        text = line.decode(errors="replace")
        facts = dict(word.split("=", 1) for word in text.split() if "=" in word)
        status, beat = facts.get("status", "none"), int(facts.get("beat") or 0)
        return cls(
            is_present="absent" not in text.split(), process=facts.get("process", "gone"),
            exit_status=int(status) if status.lstrip("-").isdigit() else None,
            heartbeat_at=datetime.fromtimestamp(beat, UTC) if beat else None,
            size=int(facts.get("size") or 0), boot_id=facts.get("boot", ""),
            offset=offset, chunk=chunk, line=text,
        )

    @property
    def has_more_log(self) -> bool:
        return self.offset + len(self.chunk) < self.size

    def is_lost(self, started: dict) -> bool:
        """Proof that the job will never report: nothing of it runs and it left no status."""
        if self.exit_status is not None:
            return False
        restarted = bool(self.boot_id) and self.boot_id != started.get("boot_id", self.boot_id)
        return restarted or self.process == "gone" or not self.is_present
