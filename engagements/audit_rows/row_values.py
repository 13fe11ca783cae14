"""Rows as the audit log keeps them: plain JSON values by column, long ones as their SHA-256."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from django.db import models

from toolreaders.masking import mask_text, mask_tree

ROWS_PER_QUERY = 500
UNREADABLE = "unreadable"
MAX_TEXT_LENGTH = 64  # characters; a longer value is kept as its SHA-256


def stored_rows(table: type[models.Model], keys: Iterable, without: Collection[str] = (),
                per_query: int = ROWS_PER_QUERY) -> Iterator[tuple[str, dict[str, Any]]]:
    """Key and columns of the rows with these ascending keys, as the database holds them."""
    names, rows = _columns_of(table, frozenset(without))
    for batch in _batches(keys, per_query):
        for row in _values(rows.filter(pk__in=batch), names):
            yield str(row[table._meta.pk.attname]), {
                name: plain_value(row[name]) for name in names}


@lru_cache(512)
def _columns_of(table: type[models.Model], without: frozenset[str]
                ) -> tuple[list[str], models.QuerySet]:
    """The names, and a query of them; it is asked with every write, and takes a third of the time
    to build."""
    names = [field.attname for field in table._meta.concrete_fields
             if field.attname not in without]
    return names, table._base_manager.order_by("pk").values(*names)


def _values(rows: models.QuerySet, names: list[str]) -> list[dict[str, Any]]:
    """The columns of rows. What Django cannot read is UNREADABLE: SQLite keeps a number with more
    digits than its column has."""
    try:
        return list(rows)
    except ArithmeticError:
        return [{name: _value(rows.filter(pk=key), name) for name in names}
                for key in rows.values_list("pk", flat=True)]


def _value(row: models.QuerySet, name: str) -> Any:
    try:
        return row.values_list(name, flat=True).get()
    except ArithmeticError:
        return UNREADABLE


def _batches(keys: Iterable, size: int) -> Iterator[list]:
    remaining = iter(keys)
    while batch := list(islice(remaining, size)):
        yield batch


def plain_value(value: Any) -> Any:
    """A column's value as the log keeps it: null, boolean, integer, or at most 71 characters. What
    is longer is kept as its SHA-256, and so is what looks like a secret."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, bytes | memoryview):  # as drivers give the bytes of a column
        return _digest(value)
    is_json = isinstance(value, dict | list)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True) if is_json else str(value)
    if len(text) > MAX_TEXT_LENGTH:
        return _digest(text.encode())
    is_secret = mask_tree(value) != value if is_json and '"' in text else mask_text(text) != text
    return _digest(text.encode()) if is_secret else text


def is_logged(value: Any, logged: Any) -> bool:
    """Whether an entry holds this plain value; older entries hold short secrets in clear."""
    return value == logged or (isinstance(logged, str) and value == _digest(logged.encode()))


def _digest(content: bytes | memoryview) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
