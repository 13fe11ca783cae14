"""SQLite files of msprobe 26.2: graph_visualize (``*.vis.db``) and data2db (``*.trend.db``).

Opened read-only and immutable; counted are rows of the tables the tool makes, nothing else is run.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

MAGIC = b"SQLite format 3\x00"
GRAPH_TABLES = {"tb_nodes", "tb_config"}
TREND_TABLES = {"monitoring_targets", "trend_data"}
STEPS_LIMIT = 200_000_000  # virtual-machine instructions, against hostile views
LISTED = 200


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    budget = [STEPS_LIMIT // 1_000_000]

    def tick() -> int:
        budget[0] -= 1
        return 1 if budget[0] < 0 else 0

    connection.set_progress_handler(tick, 1_000_000)
    return connection


def _tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {str(name) for (name,) in rows}


def _tables_of(source: Source) -> set[str]:
    if not source.head.startswith(MAGIC):
        return set()
    try:
        with closing(_connect(source.path)) as connection:
            return _tables(connection)
    except sqlite3.Error as error:
        raise ReadError("damaged_sqlite", f"The database is damaged: {error}.") from error


class MsprobeDatabase(Reader):
    """What both databases share."""

    tool = "msprobe"
    needed: set[str] = set()

    def recognises(self, sample: Sample) -> int:
        return 95 if self.needed <= _tables_of(sample.source) else 0

    def read(self, source: Source) -> Reading:
        try:
            with closing(_connect(source.path)) as connection:
                counts = {
                    name: _one(connection, f'SELECT count(*) FROM "{name}"')
                    for name in sorted(_tables(connection))
                    if name.replace("_", "").isalnum()
                }
                values, warnings = self.values(connection)
        except sqlite3.Error as error:
            raise ReadError("damaged_sqlite", f"The database is damaged: {error}.") from error
        return self.reading({**values, "tables": counts}, warnings=warnings, tool_version="26.x")

    def values(self, connection: sqlite3.Connection) -> tuple[dict[str, Any], list[ReadingWarning]]:
        """Values beside the row counts."""
        raise NotImplementedError


def _one(connection: sqlite3.Connection, query: str) -> Any:
    return connection.execute(query).fetchone()[0]


def _column(connection: sqlite3.Connection, query: str) -> list[Any]:
    return [row[0] for row in connection.execute(query)]


@register
class GraphReader(MsprobeDatabase):
    """``compare_*.vis.db`` and ``build_*.vis.db``: the graph of one run or of two."""

    name = "msprobe_graph"
    kind = "accuracy_graph"
    needed = GRAPH_TABLES

    def values(self, connection: sqlite3.Connection) -> tuple[dict[str, Any], list[ReadingWarning]]:
        graph_type, task = connection.execute("SELECT graph_type, task FROM tb_config").fetchone()
        worst = connection.execute(
            "SELECT node_name, precision_index FROM tb_nodes WHERE precision_index IS NOT NULL"
            " AND data_source = 'NPU' ORDER BY precision_index DESC, node_order LIMIT 20"
        ).fetchall()
        values = {
            "form": "graph",
            "graph_type": graph_type,
            "task": task,
            "nodes": _one(connection, "SELECT count(*) FROM tb_nodes"),
            "npu_nodes": _one(connection, "SELECT count(*) FROM tb_nodes"
                                          " WHERE data_source = 'NPU'"),
            "least_precise": [{"name": name, "precision_index": index} for name, index in worst],
            "overflow_nodes": _column(connection, "SELECT node_name FROM tb_nodes WHERE"
                                      " overflow_level IS NOT NULL AND overflow_level NOT IN"
                                      f" ('', 'None') ORDER BY node_order LIMIT {LISTED}"),
        }  # fmt: skip
        return values, []


@register
class TrendReader(MsprobeDatabase):
    """``dump_data.trend.db``: statistics of tensors over steps and ranks."""

    name = "msprobe_trend"
    kind = "accuracy_dump"
    needed = TREND_TABLES

    def values(self, connection: sqlite3.Connection) -> tuple[dict[str, Any], list[ReadingWarning]]:
        # SQLite stores NaN as NULL and Inf as ±9e999
        bad = connection.execute(
            "SELECT DISTINCT t.target_name, d.rank, d.step FROM trend_data d"
            " JOIN monitoring_targets t USING (target_id)"
            " WHERE d.norm IS NULL OR d.max IS NULL OR abs(d.norm) > 1e308 OR abs(d.max) > 1e308"
            f" ORDER BY d.step, d.rank, d.target_id LIMIT {LISTED}"
        ).fetchall()
        values = {
            "form": "trend",
            "ranks": _column(connection, "SELECT DISTINCT rank FROM trend_data ORDER BY rank"),
            "steps": _column(connection, "SELECT DISTINCT step FROM trend_data ORDER BY step"),
            "targets": _one(connection, "SELECT count(*) FROM monitoring_targets"),
            "points": _one(connection, "SELECT count(*) FROM trend_data"),
            "nonfinite": len(bad),
            "first_nonfinite": dict(zip(("name", "rank", "step"), bad[0], strict=True))
            if bad
            else None,
        }
        warnings = []
        if bad:
            message = f"{len(bad)} points are NaN, Inf or missing, first {bad[0][0]}."
            warnings.append(ReadingWarning("nonfinite_values", message))
        return values, warnings
