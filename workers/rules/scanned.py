"""What the source scan says of rules (DOMAIN 5.2): of texts, and as it was stored."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolreaders.scan import scan_texts
from toolreaders.scan.check_catalogue import CHECKS
from workers.rules.base import RULES, Hit, Outcome, Spot

MOST_HITS = 200


def found_in_scan(code: str) -> Callable[[Mapping[str, Any]], list[Spot]]:
    """A rule's test: the scan's findings for that rule in `scripts` (file name → text)."""
    def test(f: Mapping[str, Any]) -> list[Spot]:
        return [Spot(finding.snippet, f"{finding.file}:{finding.line}")
                for finding in scan_texts(f["scripts"]).findings if finding.rule == code]
    return test


def of_scans(readings: Iterable, artifact) -> Outcome:
    """Hits of stored scans, at file and line in the archive; rules without a finding are clear."""
    outcome = Outcome()
    for reading in readings:
        found = [entry for entry in reading.values.get("findings", []) if entry["rule"] in RULES]
        outcome.hits += [Hit(entry["rule"], entry["severity"], entry["snippet"][:300],
                             f"{entry['file']}:{entry['line']}", RULES[entry["rule"]].version,
                             artifact.name, artifact.pk) for entry in found[:MOST_HITS]]
        fired = {entry["rule"] for entry in found}
        outcome.clear += sorted({c.rule for c in CHECKS.values()} - fired - {""})
    return outcome
