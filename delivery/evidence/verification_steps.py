"""What a check found, step by step."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One thing that was checked; `is_open` if it could not be, because a file is held back."""

    is_good: bool
    text: str
    is_open: bool = False
