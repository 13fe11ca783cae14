"""The registry of gate checks. Higher apps register theirs in `ready()`.

A check is a function of a StageRecord that returns CheckResults: none when it has nothing
to say about it. The gate is met when no result is failed.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import wraps

from engagements.access import Can, allowed
from engagements.models import StageRecord, User
from engagements.stages import Stage


@dataclass(frozen=True)
class CheckResult:
    """What one check found.

    `sentence` says what was found, `remedy` what would make it pass, `url` opens the evidence
    or the page on which it comes to be, `needs` what a role must include to open that page,
    `outcome` the verdict behind it, else met or missing.
    """

    code: str
    label: str
    is_met: bool
    sentence: str
    url: str = ""
    remedy: str = ""
    needs: Can | None = None
    outcome: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "outcome", self.outcome or ("met" if self.is_met else "missing"))

    def as_dict(self) -> dict:
        return {key: value if isinstance(value, bool) else str(value or "")
                for key, value in asdict(self).items()}


Check = Callable[[StageRecord], Iterable[CheckResult]]
_checks: dict[str, Check] = {}


def register_check(code: str, *stages: Stage) -> Callable[[Check], Check]:
    """Decorator: add a check under a unique code.

    Args:
        stages: those whose gate it belongs to, of others it says nothing; all where none is named.
    """

    def add(check: Check) -> Check:
        @wraps(check)
        def of_its_stages(record: StageRecord) -> Iterable[CheckResult]:
            return check(record) if record.stage in stages else ()

        _checks[code] = of_its_stages if stages else check
        return _checks[code]

    return add


def seen_by(results: Iterable[CheckResult], user: User) -> list[CheckResult]:
    """The results as the user may see them: no links to pages that are closed to the role, and
    for customers no remedies."""
    is_internal = allowed(user, Can.VIEW_INTERNAL)
    return [replace(result, remedy=result.remedy if is_internal else "",
                    url=result.url if _may_open(user, result) else "") for result in results]


def _may_open(user: User, result: CheckResult) -> bool:
    if result.needs:
        return allowed(user, result.needs)
    return result.is_met or allowed(user, Can.VIEW_INTERNAL)


def evaluate(record: StageRecord) -> list[CheckResult]:
    """Run all registered checks for a model's stage, in order of registration."""
    return [result for check in _checks.values() for result in check(record)]
