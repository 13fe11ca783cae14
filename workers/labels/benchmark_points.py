"""The points of a benchmark for people: a table, and throughput and latency as lines; of a service
over concurrency, of an offline model over the batch size."""

from collections import defaultdict
from typing import Any

from django.utils.translation import gettext as _

from workers.labels.line_charts import LineChart, lines_chart

FIGURES = ("tokens_per_second", "samples_per_second", "latency")


def of_job(results: dict) -> dict[str, Any] | None:
    """Rows and charts of a job's points; None where it measured none."""
    rows = results.get("benchmark_points") or []
    if not rows:
        return None
    of_model = "batch" in rows[0]
    titles = {"tokens_per_second": (_("Throughput over concurrency"), _("tokens/s")),
              "samples_per_second": (_("Throughput over batch size"), _("samples/s")),
              "latency": (_("Latency over batch size") if of_model
                          else _("Latency over concurrency"), "ms")}
    charts = [_chart(*titles[name], rows, name) for name in FIGURES
              if any(row.get(name) for row in rows)]
    return {"rows": rows, "charts": [chart for chart in charts if chart], "of_model": of_model}


def _chart(title: str, unit: str, rows: list[dict], name: str) -> LineChart | None:
    """One line per pair of lengths, or one over the batch sizes."""
    if "batch" in rows[0]:
        return lines_chart(title, unit, _("Batch size"), {_("Offline model"): sorted(
            (row["batch"], row[name]) for row in rows if row.get(name) is not None)})
    groups: dict[tuple, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row.get(name) is not None and row.get("concurrency"):
            groups[row.get("input"), row.get("output")].append((row["concurrency"], row[name]))
    return lines_chart(title, unit, _("Concurrent requests"), {
        _("input/output %(lengths)s") % {"lengths": f"{given or 0:g}/{made or 0:g}"}:
            sorted(points) for (given, made), points in groups.items()})
