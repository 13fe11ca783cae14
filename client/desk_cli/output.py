"""Tables for people, JSON for scripts."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import click

Column = tuple[str, Callable[[Any], Any]]
json_option = click.option("--json", "as_json", is_flag=True,
                           help="One JSON object a line, as the API answers.")
most_option = click.option("--most", default=50, show_default=True, type=click.IntRange(1),
                           help="At most so many, the newest first.")


def show_rows(found: Iterable[Any], columns: list[Column], *, as_json: bool) -> None:
    """A table whose columns are as wide as their content; says so when there is nothing."""
    entries = list(found)
    if as_json:
        for entry in entries:
            show_json(entry)
        return
    if not entries:
        click.echo("Nothing found.", err=True)
        return
    lines = [[title for title, _value in columns]]
    lines += [[printable(value(entry)) for _title, value in columns] for entry in entries]
    widths = [max(width_of(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        click.echo("  ".join(text + " " * (width - width_of(text))
                             for text, width in zip(line, widths, strict=True)).rstrip())


def show_facts(facts: Iterable[tuple[str, Any]]) -> None:
    """One `name: value` a line; nothing of what is empty."""
    for name, value in facts:
        if value not in (None, ""):
            click.echo(f"{name}: {printable(value)}")


def show_json(row: Any) -> None:
    click.echo(json.dumps(row.to_dict(), ensure_ascii=False, default=str))


def printable(value: Any) -> str:
    """In one line, without characters that steer a terminal: names and logs are other people's."""
    text = "" if value is None else str(value)
    return "".join(letter if letter.isprintable() else " " for letter in text)


def width_of(text: str) -> int:
    """Columns in a terminal: Chinese characters take two."""
    return sum(2 if ord(letter) >= 0x1100 and _is_wide(letter) else 1 for letter in text)


def _is_wide(letter: str) -> bool:
    from unicodedata import east_asian_width

    return east_asian_width(letter) in "WF"
