"""Configuration differences judged after the reviewed allow-list (DOMAIN R-ACC-02)."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from assessments.models import AllowedDifference, Outcome
from engagements.models import Engagement
from workers.models import StoredReading

ALLOWED, PROPOSED, OPEN, MUST_MATCH = "allowed", "proposed", "open", "must_match"


@dataclass(frozen=True)
class Difference:
    """A difference as the tool printed it (masked), and what the allow-list says of it."""

    number: int
    sheet: str
    item: str
    bench: str
    npu: str
    level: str
    state: str
    entry: AllowedDifference | None = None
    relative: dict | None = None


@dataclass(frozen=True)
class ConfigVerdict:
    """The outcome: failed by open or forbidden differences; not provable while one awaits its
    review or a part was not compared; else passed."""

    outcome: str
    counts: dict[str, int]
    not_compared: list[str]


def compared(values: dict, entries: Iterable[AllowedDifference]) -> list[Difference]:
    """Every difference of a config_check reading with its state, in the file's order."""
    entries = [entry for entry in entries if entry.withdrawn_at is None]
    return [_difference(number, row, entries)
            for number, row in enumerate(values.get("differences", []))]


def entries_of(engagement: Engagement) -> list[AllowedDifference]:
    """The engagement's allow-list, withdrawn entries left out."""
    return entries_by_engagement([engagement.pk])[engagement.pk]


def entries_by_engagement(keys: Collection[int]) -> dict[int, list[AllowedDifference]]:
    """The allow-lists of many engagements, in one query."""
    found: dict[int, list[AllowedDifference]] = {key: [] for key in keys}
    for entry in AllowedDifference.objects.filter(
            engagement__in=keys, withdrawn_at=None).select_related("proposed_by", "reviewed_by"):
        found[entry.engagement_id].append(entry)
    return found


def judged(values: dict, differences: list[Difference]) -> ConfigVerdict:
    """Whether both configurations agree after the allow-list."""
    counts = Counter(difference.state for difference in differences)
    missing = list(values.get("not_compared", []))
    outcome = (Outcome.FAILED if counts[OPEN] or counts[MUST_MATCH] else
               Outcome.NOT_PROVABLE if counts[PROPOSED] or missing else Outcome.PASSED)
    return ConfigVerdict(outcome, dict(counts), missing)


def outcome_of(reading: StoredReading) -> ConfigVerdict:
    """The outcome of a stored config_check under the allow-list of its engagement."""
    entries = entries_of(reading.artifact.engagement)
    return judged(reading.values, compared(reading.values, entries))


def _difference(number: int, row: dict, entries: list[AllowedDifference]) -> Difference:
    bench, npu = (_text(row.get(side)) for side in ("bench", "npu"))
    entry = _entry(row, bench, npu, entries)
    state = (entry.state if entry else
             OPEN if row["sheet"] in AllowedDifference.Sheet.values else MUST_MATCH)
    return Difference(number, row["sheet"], str(row["item"]), bench, npu, row.get("level", ""),
                      state, entry, row.get("relative_diff"))


def _entry(row: dict, bench: str, npu: str, entries: list[AllowedDifference]
           ) -> AllowedDifference | None:
    """The entry that covers the difference, a reviewed one first."""
    fitting = [entry for entry in entries if entry.sheet == row["sheet"]
               and _names(entry.item, str(row["item"]))
               and (entry.is_any_value or (entry.bench_value, entry.npu_value) == (bench, npu))]
    return next((entry for entry in fitting if entry.reviewed_at), next(iter(fitting), None))


def _names(pattern: str, item: str) -> bool:
    if pattern.endswith("*"):
        return item.startswith(pattern[:-1])
    return pattern == item


def _text(value) -> str:
    return "" if value is None else str(value)[:240]
