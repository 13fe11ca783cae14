"""One reason why a run failed: what a log shows, what that means, what to do, and who says so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

ENVIRONMENT, SCRIPT, HARDWARE, CLUSTER = "environment", "script", "hardware", "cluster"
"""Classes of faults as the migration guide has them (S0 3.4.1); "" where a code does not tell."""


@dataclass(frozen=True)
class Cause:
    """One reason for a failure.

    Args:
        pattern: what the log shows, searched in whole lines (MULTILINE); None of a cause that
            only a code shows.
        headline, remedy: message ids with the pattern's named groups as placeholders; the remedy
            is empty where nothing is known that helps.
        source: where the meaning is written down.
        fault: the class of fault.
        codes: the cause of `cann_codes.tsv` whose codes show it too.
        status: exit status that says the same; then this cause comes before all others.
        is_last: the last place in the log counts, not the first.
        waits: it says that a rank waited for another one, which may have failed by itself.
        versions: of CANN, whose published table has the code.
    """

    code: str
    pattern: re.Pattern[str] | None
    headline: str
    remedy: str
    source: str
    fault: str = ""
    codes: str = ""
    status: int | None = None
    is_last: bool = False
    waits: bool = False
    versions: str = ""


def line_cause(code: str, pattern: str, headline: str, remedy: str, source: str, fault: str,
               **more: Any) -> Cause:
    """A cause that whole lines show."""
    return Cause(code, re.compile(pattern, re.MULTILINE), headline, remedy, source, fault, **more)
