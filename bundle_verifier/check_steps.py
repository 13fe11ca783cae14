"""One step of a check, with its result."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckStep:
    """One thing that was checked; `is_open` if it could not be.

    `conclusion`: what the result says because of it instead of “good”.
    """

    is_good: bool
    text: str
    is_open: bool = False
    conclusion: str = ""
