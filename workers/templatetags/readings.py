"""Readings, jobs and their kinds in words, and links to the pages that show them in full."""

from collections.abc import Iterator
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from workers.kinds.base import title_of
from workers.readers.words import kind_words, reader_words
from workers.reading_pages import page_of
from workers.rules.labels import fact_words

register = template.Library()
register.filter("job_kind", title_of)
register.filter("reading_kind", kind_words)
register.filter(reader_words)
register.filter(fact_words)

ROWS = 20  # of a list of things that a page shows; the file has them all


@register.simple_tag
def reading_link(reading, css: str = "") -> SafeString:
    """The link, or nothing where no page is registered for the reading."""
    found = page_of(reading)
    if found is None:
        return mark_safe("")
    label, url = found
    return format_html('<a href="{}" class="{}">{}</a>', url, css, label)


@register.filter
def single_values(values: dict) -> list[tuple[str, Any]]:
    """(name, value) of what stands alone, names of nested ones joined by dots; nothing empty."""
    return [(name, ", ".join(map(str, value)) if isinstance(value, list) else value)
            for name, value in _leaves(values) if not _is_rows(value)]


@register.filter
def listed_values(values: dict) -> list[dict]:
    """Lists of things as tables: name, columns, the first rows, and how many there are."""
    return [{"name": name, "columns": list(rows[0]), "count": len(rows),
             "rows": [[row.get(column) for column in rows[0]] for row in rows[:ROWS]]}
            for name, rows in _leaves(values) if _is_rows(rows)]


def _is_rows(value) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and one for one in value)


def _leaves(values: dict, before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and key != "lines":  # in which line each value stands
            yield from _leaves(value, f"{before}{key}.")
        elif value not in (None, "", []) and not isinstance(value, dict):
            yield f"{before}{key}", value
