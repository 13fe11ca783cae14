"""What Slurm's commands print, as the scripts beside this module pass it on."""

import re
from collections import defaultdict
from dataclasses import replace

from toolreaders.number_parsing import whole_number
from workers.nodes.reachability import SchedulerAway
from workers.remote.replies import RemoteState
from workers.remote.scheduled import Scheduled

AWAY = "desk slurm-away "
NO_REASON = ("None", "(null)", "N/A", "")
NO_NODES = ("", "None assigned", "(null)")
MOST_OUTPUT = 1500
# Of several jobs with one name the one that runs counts, then the one that waits.
LIVE_FIRST = ("RUNNING", "COMPLETING", "SUSPENDED", "CONFIGURING", "PENDING")


def require_answer(text: str) -> None:
    """Raises SchedulerAway where a command could not ask the controller."""
    if (at := text.find(AWAY)) >= 0:
        raise SchedulerAway(text[at + len(AWAY):].partition("\n")[0].strip())


def parse(text: str) -> dict[str, Scheduled]:
    """What Slurm reported of each job, by its name; of others an empty one."""
    reported: dict[str, Scheduled] = defaultdict(Scheduled)
    names: dict[str, str] = {}  # by number
    for line in text.splitlines():
        word, _space, rest = line.removeprefix("desk ").partition(" ")
        if line.startswith("desk ") and word in _LINES:
            _LINES[word](reported, names, rest)
    return reported


def _queue_row(reported, names, rest: str) -> None:
    """`%j|%A|%T|%r|%S|%N` of squeue."""
    cells = rest.split("|")
    if len(cells) != 6:
        return
    name, number, state, reason, start, nodes = (cell.strip() for cell in cells)
    names[number] = name
    known = reported[name]
    if known.state and _rank(known.state) <= _rank(state):
        return
    reported[name] = replace(
        known, job_id=number, state=state, reason="" if reason in NO_REASON else reason,
        nodes="" if nodes in NO_NODES else nodes,
        expected_start=whole_number(start) if state == "PENDING" else None)


def _rank(state: str) -> int:
    return LIVE_FIRST.index(state) if state in LIVE_FIRST else len(LIVE_FIRST)


def _given(reported, _names, rest: str) -> None:
    """The line that `batch.sh` writes on the compute node."""
    name, _space, words = rest.partition(" ")
    facts = dict(word.split("=", 1) for word in words.split() if "=" in word)
    cards = [number for part in facts.get("cards", "").split(",")
             if (number := whole_number(part)) is not None]
    known = reported[name]
    reported[name] = replace(
        known, has_begun=True, cards=cards, cards_source=facts.get("source", "") if cards else "",
        job_id=known.job_id or facts.get("job", ""), nodes=known.nodes or facts.get("nodes", ""))


def _details(reported, names, rest: str) -> None:
    """A line of `scontrol --oneliner show job`."""
    facts = dict(word.split("=", 1) for word in rest.split() if "=" in word)
    name = names.get(facts.get("JobId", ""))
    if name and reported[name].job_id == facts["JobId"]:
        reported[name] = replace(reported[name], exit_code=facts.get("ExitCode", ""))


def _record(reported, _names, rest: str) -> None:
    """A row of sacct: JobName, JobIDRaw, State, ExitCode, NodeList, ElapsedRaw, AllocTRES."""
    cells = rest.split("|")
    if len(cells) != 7 or (reported[cells[0]].job_id not in ("", cells[1])):
        return
    name, number, state, exit_code, nodes, elapsed, given = cells
    known = reported[name]
    reported[name] = replace(
        known, job_id=number, state=known.state or state.split()[0],
        exit_code=exit_code or known.exit_code,
        nodes=known.nodes or ("" if nodes in NO_NODES else nodes),
        accounting={"state": state, "seconds": elapsed, "given": given})


def _no_records(reported, _names, rest: str) -> None:
    for name in list(reported):
        reported[name] = replace(reported[name], accounting_error=rest.strip()[:200])


def _output(reported, _names, rest: str) -> None:
    name, _space, line = rest.partition(" ")
    known = reported[name]
    reported[name] = replace(known, output=f"{known.output}\n{line}".strip()[-MOST_OUTPUT:])


_LINES = {"slurm": _queue_row, "slurm-given": _given, "scontrol": _details, "sacct": _record,
          "sacct-away": _no_records, "slurm-output": _output}


def with_queue(state: RemoteState, scheduled: Scheduled) -> RemoteState:
    """The state of a job together with what Slurm says of it."""
    return replace(state, scheduled=scheduled)


def canceller(scheduled: Scheduled) -> str:
    """Who cancelled a job, as sacct tells: `CANCELLED by 1000`; "" where it does not."""
    found = re.search(r"CANCELLED by (\S+)", scheduled.accounting.get("state", ""))
    return found[1] if found else ""


def cluster(text: str) -> dict:
    """What `probe.sh` printed: version, accounting, partitions.

    Raises SchedulerAway.
    """
    require_answer(text)
    rows = [line.removeprefix("desk partition ").split("|") for line in text.splitlines()
            if line.startswith("desk partition ")]
    return {"version": _after(text, "version"),
            "has_accounting": _after(text, "accounting") == "yes",
            "partitions": [dict(zip(("name", "up", "nodes", "state", "time_limit", "gres"),
                                    (cell.strip() for cell in row), strict=True))
                           for row in rows if len(row) == 6]}


def limit_minutes(text: str) -> int | None:
    """Whole minutes of a time limit as sinfo prints it, `[days-]hours:minutes:seconds` or
    `minutes:seconds` (sinfo(1), %l); None for `infinite` and what is no limit."""
    found = re.fullmatch(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)", text)
    if not found:
        return None
    days, hours, minutes, _seconds = (int(part or 0) for part in found.groups())
    return (days * 24 + hours) * 60 + minutes


def _after(text: str, word: str) -> str:
    found = re.search(rf"^desk {word} (.*)$", text, re.M)
    return found[1].strip() if found else ""
