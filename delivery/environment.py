"""Settings that the environment gives: each declared where it is read, with what it means.

``setting(NAME, default, meaning)`` reads a variable and keeps a row of it in `SETTINGS`, from which
``manage.py regenerate`` writes docs/configuration.md. What cannot be understood stops the start
with a sentence naming the variable; any variable may be given as NAME_FILE, the path of a file that
holds its value.
"""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from environs import EnvError, FileAwareEnv
from marshmallow.validate import OneOf, Range

Value = TypeVar("Value", bool, int, float, str, list)
env = FileAwareEnv()
READERS = {bool: env.bool, int: env.int, float: env.float, str: env.str, list: env.list}
OURS, FROM_FILE = "DESK_", "_FILE"


@dataclass(frozen=True)
class Setting:
    """A variable of the environment. Texts are msgids."""

    name: str
    type: type
    default: str  # empty: none
    is_described: bool  # the default is a sentence about it, not the value
    meaning: str
    choices: tuple[str, ...]
    section: str


SETTINGS: dict[str, Setting] = {}
_sections: list[str] = []


def section(title: str) -> None:
    """The heading of the settings that follow."""
    _sections.append(title)


def setting(name: str, default: Value, meaning: str, *, shown: str = "",
            choices: tuple[str, ...] = (), minimum: int | None = None) -> Value:
    """The value of a variable; its type is that of its default.

    Args:
        shown: how the documentation calls a default that depends on the machine or on others.

    Raises:
        ImproperlyConfigured: naming the variable, where its value cannot be understood.
    """
    read_elsewhere(name, default, meaning, shown=shown, choices=choices)
    limits = ([OneOf(choices)] if choices else []) + (
        [] if minimum is None else [Range(min=minimum)])
    try:
        return READERS[type(default)](name, default, validate=limits)
    except (EnvError, ValueError) as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error


def read_elsewhere(name: str, default: Value, meaning: str, *, shown: str = "",
                   choices: tuple[str, ...] = ()) -> None:
    """Declare a variable that Django's settings do not read."""
    row = Setting(name, type(default), shown or _written(default), bool(shown), meaning, choices,
                  _sections[-1])
    if SETTINGS.setdefault(name, row) != row:
        raise ImproperlyConfigured(f"{name} is declared twice.")


def _written(default: Value) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return ",".join(default) if isinstance(default, list) else str(default)


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Names that look like ours and that no setting has: misspelt, or of another version."""
    return sorted(name for name in environment if name.startswith(OURS)
                  and not {name, name.removesuffix(FROM_FILE)} & SETTINGS.keys())


def stored_secret(path: Path) -> str:
    """A secret made once and kept in a file that only its owner reads."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(get_random_secret_key())
        with contextlib.suppress(FileExistsError):  # another process was quicker
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()
