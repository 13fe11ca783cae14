"""``trace_view.json`` of a rank, of any size: what the card did when, in at most 240 spans of time.

The layer “Overlap Analysis” has a row each for computing, communication, communication that no
computing covers, and free time: Ascend/msprof, analysis/csrc/application/timeline/
overlap_analysis_assembler.cpp. A merged trace has one such layer for each rank.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.decoding import UTF8_BOM
from toolreaders.source import ReadError
from toolreaders.training.series import to_float

LAYER = "Overlap Analysis"
PARTS = {"Computing": "computing", "Communication": "communication",
         "Communication(Not Overlapped)": "uncovered", "Free": "free"}
TRACE = re.compile(r'^\s*(?:\{\s*"traceEvents":\s*)?\[\s*\{\s*"(?:ph|name|pid|cat|args|ts)"')
PIECE = 4096
MOST_WAITING = 64  # pieces without the end of an event
MOST_OPENED = 512  # brackets of a piece, and of an event: the parser keeps the path of each
MOST_NAME = 200
MOST_SPANS, MOST_LAYERS = 240, 16
MOST_PROCESSES = 256
LARGEST_US = 1e17  # since 1970: the year 5138
UNREADABLE = "The trace is no JSON, or holds an event of more than 256 KiB."


class Spans:
    """Busy time by span, in µs; where a trace goes on beyond the last span, all become wider."""

    def __init__(self) -> None:
        self.width = 1.0
        self.busy: dict[str, dict[int, float]] = {part: {} for part in PARTS.values()}
        self.totals: Counter[str] = Counter()
        self.first = self.last = 0.0

    def add(self, part: str, start: float, length: float) -> None:
        """An event of so many µs, that began at `start`."""
        self.first = min(self.first, start) if self.totals else start
        self.last = max(self.last, start + length)
        self.totals[part] += length
        while self.last // self.width - self.first // self.width >= MOST_SPANS:
            self._widen()
        row, at, end = self.busy[part], int(start // self.width), start + length
        for index in range(at, int(end // self.width) + 1):
            inside = min(end, (index + 1) * self.width) - max(start, index * self.width)
            row[index] = row.get(index, 0.0) + max(0.0, inside)

    def _widen(self) -> None:
        self.width *= 2
        for part, row in self.busy.items():
            wider: dict[int, float] = defaultdict(float)
            for index, time in row.items():
                wider[index // 2] += time
            self.busy[part] = wider

    def values(self) -> dict[str, Any]:
        """Totals in µs, and by part the busy share of each span from the first on."""
        base = int(self.first // self.width)
        number = int(self.last // self.width) - base + 1
        return {"start_us": self.first, "span_us": self.width, "totals_us": dict(self.totals),
                "shares": {part: [round(min(1.0, row.get(base + n, 0.0) / self.width), 3)
                                  for n in range(number)]
                           for part, row in self.busy.items() if row}}


@register
class TraceViewReader(Reader):
    """``trace_view.json`` and ``msprof_*.json``: read event by event, it may be very large."""

    name = "trace_view"
    kind = "profile"
    version = "2"
    tool = "Ascend PyTorch Profiler"

    def recognises(self, sample: Sample) -> int:
        text = sample.text[:65536]
        return 88 if TRACE.match(text) and '"ph"' in text and '"ts"' in text else 0

    def read(self, source: Source) -> Reading:
        phases: Counter[str] = Counter()
        spans: dict[str, Spans] = {}
        layers: dict[str, str] = {}
        for event in _events(source):
            phase, name = event.get("ph"), event.get("name")
            if not isinstance(phase, str) or len(phase) != 1 or not phase.isascii():
                continue
            phases[phase] += 1
            if phase == "X" and isinstance(name, str) and name in PARTS:
                start, length = to_float(event.get("ts")), to_float(event.get("dur"))
                process = str(event.get("pid"))[:MOST_NAME]
                if process not in spans and len(spans) < MOST_PROCESSES:
                    spans[process] = Spans()
                if process in spans and _is_time(start) and _is_time(length):
                    spans[process].add(PARTS[name], start, length)
            elif phase == "M" and name == "process_name" and len(layers) < MOST_PROCESSES:
                label = str((event.get("args") or {}).get("name"))[:MOST_NAME]
                if LAYER in label:
                    layers[str(event.get("pid"))[:MOST_NAME]] = label
        found = [{"layer": layers[process], **row.values()}
                 for process, row in spans.items() if process in layers and row.totals]
        return self.reading({
            "form": "trace_view", "events": sum(phases.values()), "phases": dict(phases),
            "timelines": found[:MOST_LAYERS], "timelines_left_out": len(found[MOST_LAYERS:])})


def _is_time(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and 0 <= value < LARGEST_US


def _events(source: Source) -> Iterator[dict[str, Any]]:
    """The events one by one, of a list or of `traceEvents`.

    Raises:
        ReadError: `damaged_json` for what is no trace, or holds an event of more than 256 KiB:
            nothing larger is ever in memory; `package_missing` on a Python without ijson.
    """
    try:
        import ijson
    except ImportError as error:
        raise ReadError("package_missing", "Traces are read with the Python package ijson, which "
                                           "is not installed here.") from error
    found: list[Any] = ijson.sendable_list()
    is_list = source.head.removeprefix(UTF8_BOM).lstrip().startswith(b"[")
    parser = ijson.items_coro(found, "item" if is_list else "traceEvents.item", use_float=True)
    waiting = opened = 0
    try:
        for block in source.blocks(PIECE):
            brackets = block.count(b"[") + block.count(b"{")
            if waiting > MOST_WAITING or max(opened, brackets) > MOST_OPENED:
                raise ReadError("damaged_json", UNREADABLE)
            parser.send(block.removeprefix(UTF8_BOM))
            waiting, opened = (0, 0) if found else (waiting + 1, opened + brackets)
            yield from (event for event in found if isinstance(event, dict))
            found.clear()
        parser.close()
    except ijson.IncompleteJSONError as error:
        raise ReadError("damaged_json", "The trace has no end.") from error
    except (ijson.JSONError, ValueError, OverflowError, RecursionError) as error:
        raise ReadError("damaged_json", UNREADABLE) from error
    yield from (event for event in found if isinstance(event, dict))
