"""What an answer costs: time by the clock and of the processor, queries, rows that plans read."""

import gc
import math
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median

from django.db import connection

MORE_ROUNDS = 20
COUNT = re.compile(r'^SELECT COUNT\(\*\)(?: AS "__count")? FROM \(SELECT .* LIMIT \d+\) ', re.S)


@dataclass
class Cost:
    """Of one address for one role; milliseconds. `read`: rows that plans read per row shown."""

    name: str
    role: str
    wall: float = 0
    p95: float = 0
    processor: float = 0
    queries: int = 0
    rows: int = 0
    shown: int = 0
    status: int = 200
    worst: str = ""

    @property
    def read(self) -> float:
        """Rows read per row shown; a page that shows fewer than 25 counts as one of 25."""
        return self.rows / max(25, self.shown)

    def facts(self) -> dict:
        return asdict(self)


class Meter:
    """Asks addresses of Django's test client and notes what the database was asked for.

    Args:
        rounds: in which an address is timed; MORE_ROUNDS further ones where a round took longer
            than `unsure_above` milliseconds.
    """

    def __init__(self, rounds: int, unsure_above: float) -> None:
        self.rounds, self.unsure_above = rounds, unsure_above
        self.plans: dict[tuple[str, str], tuple[int, int]] = {}

    def measure(self, client, name: str, role: str, url: str) -> Cost:
        cost = Cost(name, role)
        client.get(url)  # what is remembered between requests is there
        gc.freeze()  # what the benchmark itself keeps is no garbage that a request has to look at
        asked: list[tuple[str, tuple]] = []
        with connection.execute_wrapper(self._noting(asked)):
            cost.status = client.get(url).status_code
        if cost.status != 200:
            return cost
        cost.queries = len(asked)
        walls, works = self._timed(client, url, self.rounds)
        if max(walls) > self.unsure_above:
            # Of a handful of rounds the slowest one says little: one in twenty may be.
            more = self._timed(client, url, MORE_ROUNDS)
            walls, works = walls + more[0], works + more[1]
        cost.wall, cost.processor = median(walls), median(works)
        cost.p95 = sorted(walls)[math.ceil(0.95 * len(walls)) - 1]
        if connection.vendor == "postgresql":
            self._plans(cost, asked)
        return cost

    def _timed(self, client, url: str, rounds: int) -> tuple[list[float], list[float]]:
        """Milliseconds by the clock and of the processor, of each round."""
        walls, works = [], []
        for _round in range(rounds):
            begun = time.perf_counter(), time.process_time()
            client.get(url)
            walls.append((time.perf_counter() - begun[0]) * 1000)
            works.append((time.process_time() - begun[1]) * 1000)
        return walls, works

    def _noting(self, asked: list) -> Callable:
        def note(execute, sql, params, many, context):
            if sql.startswith("SELECT"):
                asked.append((sql, params))
            return execute(sql, params, many, context)

        return note

    def _plans(self, cost: Cost, asked: list[tuple[str, tuple]]) -> None:
        """Rows read and shown by all queries; counts that stop at a limit are left out."""
        worst = 0
        for sql, params in asked:
            key = (sql, repr(params))
            if key not in self.plans:
                self.plans[key] = self._explained(sql, params)
            read, given = self.plans[key]
            if COUNT.match(sql):
                continue
            cost.rows += read
            cost.shown += given
            if read > worst:
                worst, cost.worst = read, sql

    def _explained(self, sql: str, params: tuple) -> tuple[int, int]:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", params)
            plan = cursor.fetchone()[0][0]["Plan"]
        return _rows_read(plan), plan["Actual Rows"]


def _rows_read(plan: dict) -> int:
    """Rows that the scans of a plan looked at, whether they were kept or not."""
    own = 0
    if "Scan" in plan["Node Type"] and plan["Node Type"] not in (
            "Subquery Scan", "CTE Scan", "Bitmap Index Scan"):
        each = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) + plan.get(
            "Rows Removed by Index Recheck", 0)
        own = each * plan["Actual Loops"]
    return round(own + sum(_rows_read(part) for part in plan.get("Plans", ())))
