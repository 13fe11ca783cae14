"""``device_memory.csv``: what npu-smi said of the cards' memory while a command ran.

It is the memory of the whole card, with what driver and other processes hold; not the allocator's.
"""

from __future__ import annotations

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.number_parsing import whole_number
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import csv_table
from toolreaders.training.series import to_float

HEADER = "seconds,phase,card,used_mb,total_mb"


@register
class MemoryPolledReader(Reader):
    """Peak per card; rows of phase “before” are what was in use before the command."""

    name = "memory_polled"
    kind = "memory"
    tool = "npu-smi"

    def recognises(self, sample: Sample) -> int:
        return 95 if sample.text.startswith(HEADER) else 0

    def read(self, source: Source) -> Reading:
        table = csv_table(source)
        cards: dict[int, dict] = {}
        for number, row in zip(table.lines, table.rows, strict=True):
            seconds, used, total = (to_float(row[at]) if len(row) == 5 else None
                                    for at in (0, 3, 4))  # fmt: skip
            if None in (seconds, used, total) or whole_number(row[2]) is None:
                raise ReadError("damaged_file", f"Row {number} is not complete.")
            card = cards.setdefault(int(row[2]), {"card": int(row[2]), "before_mb": 0.0,
                                                  "peak_mb": 0.0, "readings": 0})  # fmt: skip
            card["total_mb"] = total
            if row[1] == "before":
                card["before_mb"] = used
            else:
                card["peak_mb"] = max(card["peak_mb"], used)
                card["readings"] += 1
        if not cards:
            raise ReadError("no_values", "The file holds no reading of a card.")
        return self.reading(_values(list(cards.values())), warnings=_warnings(cards))


def _values(cards: list[dict]) -> dict:
    return {
        "form": "polled",
        "peak_used_mb": max(card["peak_mb"] for card in cards),
        "before_mb": max(card["before_mb"] for card in cards),
        "devices": cards,
    }


def _warnings(cards: dict[int, dict]) -> list[ReadingWarning]:
    busy = [n for n, card in cards.items() if card["before_mb"] > 0.2 * card["total_mb"]]
    if not busy:
        return []
    message = f"Cards {', '.join(map(str, busy))} were in use before the command started."
    return [ReadingWarning("cards_in_use", message)]
