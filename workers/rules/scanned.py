"""Tests of rules that the source scan answers."""

from collections.abc import Callable, Mapping
from typing import Any

from toolreaders.scan import scan_texts
from workers.rules.base import Spot


def found_in_scan(code: str) -> Callable[[Mapping[str, Any]], list[Spot]]:
    """A rule's test: the scan's findings for that rule in `scripts` (file name → text)."""
    def test(f: Mapping[str, Any]) -> list[Spot]:
        return [Spot(finding.snippet, f"{finding.file}:{finding.line}")
                for finding in scan_texts(f["scripts"]).findings if finding.rule == code]
    return test
