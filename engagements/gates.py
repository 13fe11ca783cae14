"""The registry of gate checks. Higher apps register theirs in `ready()`.

A check is a function of a StageRecord that returns CheckResults: none when it has nothing
to say about that stage. The gate is met when no result is failed.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from engagements.models import StageRecord


@dataclass(frozen=True)
class CheckResult:
    """What one check found.

    `sentence` says what was found or what would make it pass; `url` opens the evidence.
    """

    code: str
    label: str
    is_met: bool
    sentence: str
    url: str = ""

    def as_dict(self) -> dict:
        return {key: value if isinstance(value, bool) else str(value)
                for key, value in asdict(self).items()}


Check = Callable[[StageRecord], Iterable[CheckResult]]
_checks: dict[str, Check] = {}


def register_check(code: str) -> Callable[[Check], Check]:
    """Decorator: add a check under a unique code."""

    def add(check: Check) -> Check:
        _checks[code] = check
        return check

    return add


def evaluate(record: StageRecord) -> list[CheckResult]:
    """Run all registered checks for a model's stage, in order of registration."""
    return [result for check in _checks.values() for result in check(record)]
