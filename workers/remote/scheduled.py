"""What a cluster's scheduler says of a job."""

from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Scheduled:
    """One job as the scheduler sees it.

    Args:
        state: its word, as PENDING; "" where it does not know the job any more.
        reason: its word for why the job waits or ended; "" for none.
        cards: that the job got on its first node; `cards_source` says who named them.
        expected_start: seconds since 1970, where it foresees one.
        accounting: its record of the ended job: who ended it, what it was given.
        accounting_error: why there is no such record.
        output: the end of what the scheduler itself wrote about the job.
        detail: its own sentence for the reason.
        disruption: why its container was taken from a node, kept once it is gone.
        image: the container image that ran, by digest where the cluster tells.
    """

    job_id: str = ""
    state: str = ""
    reason: str = ""
    nodes: str = ""
    cards: list[int] = field(default_factory=list)
    cards_source: str = ""
    expected_start: int | None = None
    exit_code: str = ""
    accounting: dict[str, str] = field(default_factory=dict)
    accounting_error: str = ""
    output: str = ""
    detail: str = ""
    disruption: str = ""
    image: str = ""
    is_live: bool = False  # whether anything of it is or may be running
    has_begun: bool = False  # on a compute node that sees the job's folder

    def as_json(self) -> dict:
        """What is stored with the job's results: all that was reported."""
        return {name: value for name, value in asdict(self).items() if value}
