"""What the page of a job on several nodes shows of them."""

from typing import Any

from workers.logs import live_log, merged_log
from workers.models import Job

LOG_AT_FIRST, TAIL = 2**20, 60_000


def page_context(job: Job, asked: str) -> dict[str, Any]:
    """The members by round and rank, and whose log is shown: of the rank asked for, or of all.

    Args:
        asked: the rank's number; `all`; empty for the first.
    """
    if job.nodes_wanted == 1:
        return {"members": [], "log_job": job, "asked_rank": ""}
    members = list(job.own_gang.members.select_related("node").order_by("-attempt", "rank"))
    present = [member for member in members if member.attempt == job.own_gang.round]
    shown = next((member for member in present if str(member.rank) == asked), present[0])
    return {"members": members, "present": present, "log_job": shown,
            "asked_rank": "all" if asked == "all" else shown.rank}


def log_context(log_job: Job, asked_rank: Any, present: list[Job], asked_log: str = ""
                ) -> dict[str, Any]:
    """The end of the log that is shown, and where its whole first part begins.

    Args:
        asked_log: the id of a further log of the job; empty for its output.
    """
    if asked_rank == "all":
        return {"log": "".join(merged_log.lines(present, TAIL))}
    further = list(log_job.logs.select_related("job"))
    extra = next((each for each in further if str(each.pk) == asked_log), None)
    shown = extra or log_job
    return {"log": live_log.tail(shown, TAIL), "further_logs": further, "extra_log": extra,
            "shown_log": shown,
            "log_offset": live_log.line_start(shown, shown.log_stored - LOG_AT_FIRST)}
