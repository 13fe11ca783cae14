"""The environments of baseline and NPU run side by side (DOMAIN AR-05, R-ACC-02)."""

from collections.abc import Iterator
from dataclasses import dataclass

from assessments.models import AcceptedDifference, Baseline, Criterion, Measurement
from workers.runtimes import software

SAME, DIFFERS, ACCEPTED, ONE_SIDED = "same", "differs", "accepted", "one_sided"


@dataclass(frozen=True)
class Item:
    """One fact on both sides; `accepted` holds who accepts the difference, and why."""

    name: str
    baseline: str
    candidate: str
    state: str
    accepted: AcceptedDifference | None = None


def compared(criterion: Criterion, measurement: Measurement | None) -> list[Item]:
    """All facts that either side records. A fact of one side only is shown, never judged."""
    source, target = of_baseline(criterion.baseline), of_run(measurement)
    known = {(row.item, row.baseline_value, row.candidate_value): row for row in
             AcceptedDifference.objects.filter(
                 engagement=criterion.criteria_set.engagement_id).select_related("accepted_by")}
    return [_item(name, source.get(name, ""), target.get(name, ""), known)
            for name in sorted(source.keys() | target.keys())]


def _item(name: str, baseline: str, candidate: str, known: dict) -> Item:
    if not (baseline and candidate):
        return Item(name, baseline, candidate, ONE_SIDED)
    if baseline.casefold() == candidate.casefold():
        return Item(name, baseline, candidate, SAME)
    accepted = known.get((name, baseline, candidate))
    return Item(name, baseline, candidate, ACCEPTED if accepted else DIFFERS, accepted)


def unreviewed(criterion: Criterion, measurement: Measurement | None) -> Iterator[Item]:
    """Differences that nobody has accepted; none where no baseline is compared with."""
    if criterion.baseline is None or measurement is None:
        return iter(())
    return (item for item in compared(criterion, measurement) if item.state == DIFFERS)


def of_baseline(baseline: Baseline | None) -> dict[str, str]:
    return _plain(baseline.environment) if baseline else {}


def of_run(measurement: Measurement | None) -> dict[str, str]:
    """What the node reported of itself, and the cards that the job asked for."""
    job = measurement.job if measurement else None
    if not (job and job.node):
        return {}
    chips = sorted({card.chip_name for card in job.node.cards.all() if card.chip_name})
    return _plain({"chip": ", ".join(chips), "cards": job.cards_wanted or "",
                   **software.of_job(job)})


def _plain(facts: dict) -> dict[str, str]:
    """Facts as short text under lower-case names; empty ones are left out."""
    return {str(name).strip().lower()[:80]: _text(value)[:240]
            for name, value in (facts or {}).items() if value not in (None, "", [], {})}


def _text(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in sorted(value.items()))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
