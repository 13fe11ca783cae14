"""Readings, jobs and their kinds in words, and links to the pages that show them in full."""

from collections.abc import Iterator
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from workers.kinds.base import title_of
from workers.labels.cause_words import cause_words
from workers.labels.reader_warnings import warning_words
from workers.labels.reading_kinds import kind_words, reader_words
from workers.labels.value_format import NAMED_BY_THE_FILE, key_words, path_words, value_text, word
from workers.labels.value_names import NAMES
from workers.reading_pages import page_of
from workers.rules.citations import marks
from workers.rules.fact_labels import fact_words

register = template.Library()
register.filter("job_kind", title_of)
register.filter("reading_kind", kind_words)
register.filter(reader_words)
register.filter(fact_words)
register.filter("source_marks", marks)
register.filter(warning_words)
register.filter(word)
register.filter(value_text)

ROWS = 20  # of a list of things that a page shows; the file has them all
LONG = 8  # single values of a map that reads better as a table


@register.filter
def job_label(job) -> str:
    """Number and kind of a job, as `#27 Training`."""
    return f"#{job.pk} {title_of(job.kind)}"


@register.filter
def with_chosen(options: SafeString, key: int | None) -> SafeString:
    """Options of a select with one of them chosen; a page makes them once for all its rows."""
    plain = f'<option value="{key}">'
    return mark_safe(options.replace(plain, f'{plain[:-1]} selected>'))


@register.filter
def place_words(place: str) -> str:
    """Where in a reading a value stands, in words; `place` joins the keys by dots."""
    return path_words(tuple(place.split(".")))


@register.simple_tag
def reading_link(reading, css: str = "") -> SafeString:
    """The link, or nothing where no page is registered for the reading."""
    found = page_of(reading)
    if found is None:
        return mark_safe("")
    label, url = found
    return format_html('<a href="{}" class="{}">{}</a>', url, css, label)


@register.filter
def reading_cause(values: dict) -> dict | None:
    """Why the run of a log failed, in words; None where the reading names no cause."""
    stored = values.get("cause")
    return cause_words(stored) if isinstance(stored, dict) else None


@register.filter
def single_values(values: dict) -> list[dict]:
    """What stands alone: its name in words, its key joined by dots, its text; nothing empty."""
    return [{"name": path_words(path), "key": ".".join(path), "text": value_text(value, path[-1])}
            for path, value in _leaves(values) if not _is_table(value)]


@register.filter
def listed_values(values: dict) -> list[dict]:
    """Lists and long maps as tables: name, key, columns, the first rows, and how many there are."""
    return [_table(path, value) for path, value in _leaves(values) if _is_table(value)]


def _table(path: tuple[str, ...], value: list | dict) -> dict:
    rows = [{"name": name, "value": one} for name, one in value.items()
            ] if isinstance(value, dict) else value
    keys = list(rows[0])
    cells = [[_cell(row.get(key), key) for key in keys] for row in rows[:ROWS]]
    columns = [{"name": key_words(key), "key": key,
                "is_number": any(row[place]["is_number"] for row in cells)}
               for place, key in enumerate(keys)]
    return {"name": path_words(path), "key": ".".join(path), "count": len(rows),
            "columns": columns, "rows": cells}


def _cell(value, key: str) -> dict:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {"text": value_text(value, key), "is_number": is_number}


def _is_table(value) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and all(isinstance(one, dict) and one for one in value))


def _is_long_map(key: str, value: dict) -> bool:
    """Many single values whose names come from the file, as packages or environment variables."""
    is_named_by_the_file = key in NAMED_BY_THE_FILE or not NAMES.keys() & value.keys()
    return len(value) >= LONG and is_named_by_the_file and not any(
        isinstance(one, dict | list) for one in value.values())


def _leaves(values: dict, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in values.items():
        if not isinstance(value, dict):
            if value not in (None, "", []):
                yield (*before, key), value
        elif _is_long_map(key, value):
            yield (*before, key), value
        elif key not in ("lines", "cause"):  # of the values, and what `reading_cause` shows
            yield from _leaves(value, (*before, key))
