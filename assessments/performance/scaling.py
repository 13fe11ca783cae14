"""Throughput over cards: from published tables and from our own runs (DOMAIN M07)."""

from dataclasses import dataclass

from assessments.models import Measurement
from assessments.queries import of_target
from engagements.models import MigratedModel
from workers.models import StoredReading

OWN = "samples_per_second"
TABLES_SHOWN = 10


@dataclass(frozen=True)
class Point:
    """A throughput on a number of cards."""

    cards: int
    throughput: float
    source: str


@dataclass(frozen=True)
class Efficiency:
    """T_n / (n/k · T_k); above 1 the two runs cannot have been configured alike."""

    source: str
    base_cards: int
    cards: int
    value: float

    @property
    def is_plausible(self) -> bool:
        return self.value <= 1


@dataclass(frozen=True)
class Scaling:
    points: list[Point]
    efficiencies: list[Efficiency]
    is_practice: bool


def scaling_of(model: MigratedModel, own_label: str) -> Scaling:
    """Points by source, and the efficiency of each against the source's fewest cards.

    Args:
        own_label: what the model's own runs are called.
    """
    readings = list(StoredReading.objects.filter(
        artifact__model=model, kind="scaling").select_related("artifact").order_by("-pk")
        [:TABLES_SHOWN])
    own = list(of_target(Measurement.objects.filter(
        model=model, quantity=OWN, value__gt=0, job__cards_wanted__gt=0)).select_related(
        "job").order_by("pk"))
    points = _published(readings) + _own(own, own_label)
    is_practice = any(r.artifact.is_practice for r in readings) or any(m.is_practice for m in own)
    return Scaling(points, list(_efficiencies(points)), is_practice)


def _published(readings: list[StoredReading]) -> list[Point]:
    found = {}
    for reading in readings:
        for row in reading.values.get("rows", []):
            words = [row.get("device", "").upper(), *row.get("configuration", [])]
            source = " ".join(word for word in words if word)
            found.setdefault((source, row["cards"]), Point(row["cards"], row["throughput"],
                                                           source))
    return list(found.values())


def _own(rows: list[Measurement], label: str) -> list[Point]:
    """The newest run per number of cards; one number alone scales nothing."""
    newest = {row.job.cards_total: row.value for row in rows}
    if len(newest) < 2:
        return []
    return [Point(cards, value, label) for cards, value in sorted(newest.items())]


def _efficiencies(points: list[Point]):
    sources: dict[str, list[Point]] = {}
    for point in points:
        sources.setdefault(point.source, []).append(point)
    for source, members in sources.items():
        base, *others = sorted(members, key=lambda point: point.cards)
        for point in others:
            ideal = point.cards / base.cards * base.throughput
            yield Efficiency(source, base.cards, point.cards, point.throughput / ideal)
