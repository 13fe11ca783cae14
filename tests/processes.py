"""What the system says of a process."""

from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether the process is there and not merely waiting for its parent (a zombie)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):  # gone, the latter between open and read
        return False
    return fields[0] != "Z"
