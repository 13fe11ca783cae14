"""The points of a serving benchmark for people: a table, and throughput and latency as lines."""

from collections import defaultdict
from typing import Any

from django.utils.translation import gettext as _

WIDTH, HEIGHT, MARGIN = 480, 96, 4
FIGURES = ("tokens_per_second", "latency")


def of_job(results: dict) -> dict[str, Any] | None:
    """Rows and charts of a job's points; None where it measured none."""
    rows = results.get("benchmark_points") or []
    if not rows:
        return None
    titles = {"tokens_per_second": (_("Throughput over concurrency"), _("tokens/s")),
              "latency": (_("Latency over concurrency"), "ms")}
    charts = [{"title": titles[name][0], "unit": titles[name][1], **_drawn(rows, name)}
              for name in FIGURES if any(row.get(name) for row in rows)]
    return {"rows": rows, "charts": charts if len(rows) > 1 else []}


def _drawn(rows: list[dict], name: str) -> dict[str, Any]:
    """One line per pair of lengths, on common scales."""
    groups: dict[tuple, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row.get(name) is not None and row.get("concurrency"):
            groups[row.get("input"), row.get("output")].append((row["concurrency"], row[name]))
    every = [point for points in groups.values() for point in points]
    high = max((value for _x, value in every), default=0.0)
    widest = max((x for x, _value in every), default=1)
    lines = [{"name": f"{given or 0:g}/{made or 0:g}",
              "points": " ".join(_placed(x, value, widest, high) for x, value in sorted(points))}
             for (given, made), points in groups.items()]
    return {"low": 0, "high": high, "lines": lines}


def _placed(x: float, value: float, widest: float, high: float) -> str:
    left = MARGIN + (WIDTH - 2 * MARGIN) * x / widest
    top = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (value / high if high else 0)
    return f"{left:.1f},{top:.1f}"
