"""Calls of the desk's tools by the SDK's client, over stdio and over HTTP."""

import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

LONGEST = 32 * 1024


@asynccontextmanager
async def connected(where: dict[str, str] | tuple[str, str], mode: str) -> AsyncIterator[Client]:
    """To `desk-cli mcp` as a process with that environment, or to an address with a key."""
    if isinstance(where, dict):
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "desk_cli", "mcp"],
                                           env=where)
        async with Client(parameters, mode=mode) as client:
            yield client
    else:
        address, key = where
        async with create_mcp_http_client(
                headers={"Authorization": f"Bearer {key}"}) as http, Client(
                streamable_http_client(address, http_client=http), mode=mode) as client:
            yield client


@contextmanager
def session(where, mode: str = "auto") -> Iterator[Callable[[str, dict], Any]]:
    """Calls a tool with its arguments: its answer, of a refusal its text."""
    async def call(client: Client, name: str, arguments: dict) -> Any:
        result = await client.call_tool(f"desk_{name}", arguments)
        text = "".join(part.text for part in result.content)
        assert size_of(text) <= LONGEST
        return f"refused: {text}" if result.is_error else json.loads(text)

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(
            connected(where, mode)) as client:
        yield lambda name, arguments: portal.call(call, client, name, arguments)


def ask(where, *calls: tuple[str, dict], mode: str = "auto") -> list:
    """The answers of tools called one after the other in one session."""
    with session(where, mode) as call:
        return [call(*each) for each in calls]


def size_of(answer: Any) -> int:
    """Bytes of an answer as it was sent."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return len(text.encode())
