"""The registry of what readings tell the rules. Pure, no database."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Seen:
    """One reading of one file: kind, the file's name, values and warnings of the reader."""

    kind: str
    name: str
    values: dict[str, Any]
    warnings: list[dict[str, Any]] = field(default_factory=list)

    def line(self, key: str) -> int | None:
        """Line of the file on which the value stands, where its reader says so."""
        lines = self.values.get("lines")
        return lines.get(key) if isinstance(lines, dict) else None

    def warned_line(self, code: str) -> int | None:
        return next((w.get("line") for w in self.warnings if w.get("code") == code), None)


@dataclass(frozen=True)
class Observed:
    """A fact for the rules; `line` is that of the file, None where it has no lines.

    `inside` names the member where the file is an archive.
    """

    name: str
    value: Any
    line: int | None = None
    inside: str = ""


Observer = Callable[[Seen], Iterator[Observed]]
_observers: dict[str, list[tuple[frozenset[str], Observer]]] = defaultdict(list)


def observes(kind: str, gives: str) -> Callable[[Observer], Observer]:
    """Decorator: the function draws the facts `gives` from readings of that kind."""

    def declared(observer: Observer) -> Observer:
        _observers[kind].append((frozenset(gives.split()), observer))
        return observer

    return declared


def observed(seen: Seen) -> Iterator[Observed]:
    """Every fact that is known from a reading. Raises ValueError for an undeclared name."""
    for names, observer in _observers[seen.kind]:
        for found in observer(seen):
            if found.name not in names:
                raise ValueError(f"{found.name} is not declared for {seen.kind}")
            if found.value is not None:
                yield found


def given_names() -> frozenset[str]:
    """Names of all facts that readings can give."""
    return frozenset(name for entries in _observers.values() for names, _o in entries
                     for name in names)


def given_by(*kinds: str) -> frozenset[str]:
    """Names of the facts that readings of these kinds can give."""
    return frozenset(name for kind in kinds for names, _o in _observers[kind] for name in names)


def observed_kinds() -> frozenset[str]:
    """Kinds of readings that give facts."""
    return frozenset(kind for kind, entries in _observers.items() if entries)
