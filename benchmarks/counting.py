"""Counts what a worker asks of database and broker, for the benchmarks."""

import json
import os
import threading
import time
from collections import Counter
from pathlib import Path

from django.apps import AppConfig

counts: Counter[str] = Counter()


class CountingConfig(AppConfig):
    name = "benchmarks"
    label = "benchmarks"

    def ready(self) -> None:
        folder = os.environ.get("BENCH_COUNTS")
        if not folder:
            return
        from celery.signals import before_task_publish, task_prerun
        from django.db.backends.signals import connection_created

        connection_created.connect(_count_queries, weak=False)
        before_task_publish.connect(lambda **_k: counts.update(sent=1), weak=False)
        task_prerun.connect(lambda **_k: counts.update(received=1), weak=False)
        file = Path(folder) / f"{os.getpid()}.json"
        threading.Thread(target=_keep, args=[file], daemon=True).start()


def _count_queries(sender, connection, **_kwargs) -> None:
    if _counted not in connection.execute_wrappers:  # they outlive a closed connection
        connection.execute_wrappers.append(_counted)


def _counted(execute, sql, params, many, context):
    counts["writes" if sql[:6] in ("INSERT", "UPDATE", "DELETE") else "reads"] += 1
    return execute(sql, params, many, context)


def _keep(file: Path) -> None:
    while True:
        time.sleep(0.5)
        part = file.with_suffix(".part")
        part.write_text(json.dumps(counts))
        part.replace(file)
