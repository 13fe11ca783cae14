"""The process groups that `up` has started, and those that a killed `up` has left behind."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

from django.conf import settings

GRACE_SECONDS = 5


def _file() -> Path:
    return Path(settings.VAR_DIR) / "processes.json"


def _started_at(pid: int) -> str:
    """The kernel's start time of a process; "" where it is gone. A number given anew differs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def signal_group(group: int, number: int) -> bool:
    """Signal every process of a group; whether there was one."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_group(group: int, seconds: float = GRACE_SECONDS) -> None:
    """TERM, and KILL for what is left of the group after some seconds."""
    deadline = time.monotonic() + seconds
    is_there = signal_group(group, signal.SIGTERM)
    while is_there and time.monotonic() < deadline:
        time.sleep(0.05)
        is_there = signal_group(group, 0)
    if is_there:
        signal_group(group, signal.SIGKILL)


def note(leaders: dict[str, int]) -> None:
    """Write down the leaders of the groups that run now, by name."""
    rows = {name: [pid, _started_at(pid)] for name, pid in leaders.items()}
    part = _file().with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(rows))
    part.replace(_file())


def forget() -> None:
    """All of them have ended."""
    with contextlib.suppress(FileNotFoundError):
        _file().unlink()


def end_left_behind() -> list[str]:
    """End what an earlier `up` left running because it was killed; the names of what was found."""
    try:
        rows = json.loads(_file().read_text())
    except (OSError, ValueError):
        return []
    found = [name for name, (pid, began) in rows.items() if _is_left(pid, began)]
    for name in found:
        end_group(rows[name][0])
    forget()
    return found


def _is_left(group: int, began: str) -> bool:
    """Whether the group is still that of the process: its leader, or a child of the same session
    after the leader has gone."""
    leader = _started_at(group)
    if leader:
        return leader == began
    return bool(began) and signal_group(group, 0)
