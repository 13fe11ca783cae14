"""What the log last says of each row, on disk: ten million entries do not fit into memory."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from typing import Any

from engagements.audit_rows.tracking import Rows

BATCH = 2000
CACHE_KB = 16_384

Known = tuple[int, dict[str, Any] | None]  # number of the entry; columns, None of a deleted row


class KnownRows:
    """The newest entry and columns by table and key, in a temporary file."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="audit-rows-")
        self._database = sqlite3.connect(f"{self._folder.name}/rows.sqlite3")
        self._database.executescript(
            f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -{CACHE_KB};"
            "CREATE TABLE rows (label TEXT, key TEXT, number INTEGER, columns TEXT, "
            "PRIMARY KEY (label, key)) WITHOUT ROWID")
        self._waiting: list[tuple] = []

    def __enter__(self) -> "KnownRows":
        return self

    def __exit__(self, *_error) -> None:
        self._database.close()
        self._folder.cleanup()

    def add(self, number: int, rows: Rows) -> None:
        """What an entry says; entries come oldest first."""
        for label, found in rows.items():
            for key, columns in found.items():
                self._waiting.append((label, key, number, json.dumps(columns)))
        if len(self._waiting) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        self._database.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)",
                                   self._waiting)
        self._waiting.clear()

    def of(self, label: str, key: str) -> Known | None:
        """What is known of a row; None where no entry speaks of it."""
        self._flush()
        row = self._database.execute("SELECT number, columns FROM rows WHERE label = ? AND key = ?",
                                     (label, key)).fetchone()
        return row and (row[0], json.loads(row[1]))

    def numbers(self, label: str, last: int) -> Iterator[int]:
        """The keys of a numbered table up to the last one, ascending."""
        self._flush()
        for (number,) in self._database.execute(
                "SELECT CAST(key AS INTEGER) AS given FROM rows WHERE label = ? AND given <= ? "
                "ORDER BY given", (label, last)):
            yield number

    def existing(self, label: str) -> Iterator[tuple[str, int]]:
        """Key and entry of the table's rows that the log says are there."""
        self._flush()
        yield from self._database.execute(
            "SELECT key, number FROM rows WHERE label = ? AND columns <> 'null'", (label,))
