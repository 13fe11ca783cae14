"""Which desk, with which token, and what it answers."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
import httpx

from desk_cli.retries import RetryTransport
from desk_client.client import AuthenticatedClient
from desk_client.models.problem import Problem
from desk_client.types import Response

T = TypeVar("T")
PAGE_SIZE = 100
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
HEADERS = {"User-Agent": "desk-cli", "Accept-Language": os.environ.get("DESK_LANGUAGE", "en")}


@dataclass(frozen=True)
class Login:
    """What `login` has stored. `token_id` is None for a token that was made elsewhere."""

    url: str
    token: str
    token_id: int | None = None


def login_file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "desk-cli" / "login.json"


def store_login(login: Login) -> Path:
    """Readable by its owner alone, from the first byte on."""
    path = login_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump(login.__dict__, file)
    return path


def stored_login() -> Login:
    """From DESK_URL and DESK_TOKEN, else of the last `login`."""
    if os.environ.get("DESK_URL") and os.environ.get("DESK_TOKEN"):
        return Login(os.environ["DESK_URL"].rstrip("/"), os.environ["DESK_TOKEN"])
    try:
        return Login(**json.loads(login_file().read_text()))
    except (OSError, ValueError, TypeError):
        raise click.ClickException("Sign in first: desk-cli login URL") from None


def connect(login: Login) -> AuthenticatedClient:
    """The typed client, which sends requests again that are lost, each POST under its key."""
    return AuthenticatedClient(base_url=login.url, token=login.token, prefix="Token",
                               headers=HEADERS, timeout=TIMEOUT,
                               httpx_args={"transport": RetryTransport()})


def result(response: Response[T | Problem]) -> T:
    """What the desk answered; its own sentence where it refuses."""
    require_done(response)
    if response.parsed is None or isinstance(response.parsed, Problem):
        raise click.ClickException(f"This is no answer of Delivery Desk (HTTP "
                                   f"{int(response.status_code)}). Check the address.")
    return response.parsed


def require_done(response: Response[Any]) -> None:
    """Raises ClickException with the desk's own sentence where it refuses."""
    if response.status_code >= 400:
        raise click.ClickException(refusal(response.status_code, response.content))


def refusal(status: int, content: bytes) -> str:
    """The sentences of a problem details object (RFC 9457)."""
    try:
        problem = json.loads(content)
        sentences = [str(problem["detail"])]
        sentences += [f"  {name}: {' '.join(found)}" for name, found in
                      (problem.get("parameters") or {}).items()]
    except (ValueError, TypeError, KeyError, AttributeError):
        return f"HTTP {int(status)}"
    return "\n".join(sentences)


def rows(ask: Callable[..., Response[Any]], client: AuthenticatedClient, most: int,
         **filters: Any) -> Iterator[Any]:
    """The rows of a list, page after page, at most so many."""
    page = 1
    while most > 0:
        found = result(ask(client=client, page=page, page_size=min(PAGE_SIZE, most), **filters))
        yield from found.results[:most]
        most -= len(found.results)
        if not found.results or not found.next_:
            return
        page += 1
