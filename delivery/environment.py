"""Reading settings from the environment: typed, from files, or a sentence naming the variable."""

import contextlib
import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from environs import EnvError, FileAwareEnv

env = FileAwareEnv()


def read(reader, name: str, default, **kwargs):
    """The variable `name` through an environs reader, or ImproperlyConfigured naming it."""
    try:
        return reader(name, default, **kwargs)
    except (EnvError, ValueError) as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error


def kept_secret(path: Path) -> str:
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
