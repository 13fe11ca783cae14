"""What a stored source scan says of the R-SCR rules (DOMAIN 5.2)."""

from collections.abc import Iterable

from toolreaders.scan.check_catalogue import CHECKS
from workers.rules.base import RULES, Hit, Outcome

MOST_HITS = 200


def of_scans(readings: Iterable, artifact) -> Outcome:
    """Hits with file and line inside the archive; rules without a finding are clear."""
    outcome = Outcome()
    for reading in readings:
        found = [entry for entry in reading.values.get("findings", []) if entry["rule"] in RULES]
        outcome.hits += [Hit(entry["rule"], entry["severity"], entry["snippet"][:300],
                             f"{entry['file']}:{entry['line']}", RULES[entry["rule"]].version,
                             artifact.name, artifact.pk) for entry in found[:MOST_HITS]]
        fired = {entry["rule"] for entry in found}
        outcome.clear += sorted({c.rule for c in CHECKS.values()} - fired - {""})
    return outcome
