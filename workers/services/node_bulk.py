"""The same change on many nodes: each by itself, with its own outcome."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engagements.access import Can, require
from engagements.errors import DeskError
from engagements.models import User
from workers.models import Node
from workers.services import key_installation, node_calendar, node_edits

SETTINGS = ("keep_days", "disk_warning_mb", "disk_stop_mb", "temperature_limit", "transfer_mbit")


@dataclass(frozen=True)
class Outcome:
    """What became of a change on one node; `refusal` is empty where it was made."""

    node: Node
    refusal: str = ""


def _each(actor: User, nodes: Iterable[Node], change: Callable[[Node], Any]) -> list[Outcome]:
    require(actor, Can.OPERATE)
    found = []
    for node in nodes:
        try:
            change(node)
            found.append(Outcome(node))
        except DeskError as error:
            found.append(Outcome(node, error.message))
    return found


def change_settings(*, actor: User, nodes: Iterable[Node], add_labels: str = "",
                    remove_labels: str = "", **settings) -> list[Outcome]:
    """Labels that come and go, separated by commas, and those of SETTINGS that are given."""
    given = {name: settings[name] for name in SETTINGS if settings.get(name) is not None}

    def change(node: Node) -> None:
        gone = words(remove_labels)
        labels = [label for label in dict.fromkeys([*words(node.labels), *words(add_labels)])
                  if label not in gone]
        node_edits.edit_node(actor=actor, node=node, labels=", ".join(labels), **given)

    return _each(actor, nodes, change)


def words(text: str) -> list[str]:
    """Labels one by one."""
    return [word.strip() for word in text.replace("，", ",").split(",") if word.strip()]


def plan_maintenance(*, actor: User, nodes: Iterable[Node], starts_at: datetime,
                     ends_at: datetime, reason: str, stops_jobs_at: datetime | None = None
                     ) -> list[Outcome]:
    """The same maintenance window on each."""
    return _each(actor, nodes, lambda node: node_calendar.reserve(
        actor=actor, node=node, starts_at=starts_at, ends_at=ends_at, reason=reason,
        stops_jobs_at=stops_jobs_at))


def rotate_keys(*, actor: User, nodes: Iterable[Node]) -> list[Outcome]:
    """A new key of its own for each, tried before the old one is dropped."""
    return _each(actor, nodes, lambda node: key_installation.rotate_key(actor=actor, node=node))


ACTIONS: dict[str, Callable[..., list[Outcome]]] = {
    "settings": change_settings, "maintenance": plan_maintenance, "keys": rotate_keys}
