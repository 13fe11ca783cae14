"""SSH to nodes: one event loop thread per process, one kept connection per node.

asyncssh 2.24; the numbers behind the settings stand in TECH: keep-alive finds a half-open peer
in seconds, AES-GCM first is half as dear. A connection is never made before a fork.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import asyncssh

from workers.models import Node

LOGIN_TIMEOUT = 15
CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com",
           "aes256-ctr", "aes128-ctr")


class Unreachable(Exception):
    """The node did not answer, or the connection broke: nothing is known about the job."""


class HostKeyChanged(Exception):
    """The node showed another host key than the pinned one."""


class LoginRefused(Exception):
    """The node does not accept the user or key."""


@dataclass(frozen=True)
class Answer:
    """What a command answered."""

    exit_status: int
    stdout: bytes
    stderr: bytes


class _Loop:
    """The event loop thread of this process, and its connections by node."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.connections: dict[tuple, asyncssh.SSHClientConnection] = {}
        self.locks: dict[tuple, asyncio.Lock] = {}
        threading.Thread(target=self.loop.run_forever, name="ssh", daemon=True).start()

    def call(self, coroutine: Coroutine, timeout: float) -> Any:
        future = asyncio.run_coroutine_threadsafe(
            asyncio.wait_for(coroutine, timeout), self.loop)
        return future.result(timeout + 5)


_loop: _Loop | None = None
_loop_lock = threading.Lock()


def _current_loop() -> _Loop:
    global _loop
    with _loop_lock:
        if _loop is None or _loop.pid != os.getpid():
            _loop = _Loop()
        return _loop


def fetch_host_key(host: str, port: int) -> str:
    """The host key a server offers, as an OpenSSH public-key line. Raises Unreachable."""

    async def fetch():
        key = await asyncssh.get_server_host_key(host, port)
        if key is None:
            raise Unreachable(f"{host}:{port} offered no host key")
        return key.export_public_key("openssh").decode().strip()

    return _guarded(fetch, LOGIN_TIMEOUT)


def fingerprint(public_key: str) -> str:
    """SHA256:… of an OpenSSH public-key line, as ssh-keygen prints it."""
    return asyncssh.import_public_key(public_key).get_fingerprint()


def check_private_key(text: str, passphrase: str = "") -> None:
    """Raises ValueError with the reason when the key cannot be used."""
    try:
        asyncssh.import_private_key(text, passphrase or None)
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise ValueError(str(error)) from error


def run(node: Node, script: str, timeout: float = 60) -> Answer:
    """Run a POSIX sh script on the node, given on standard input of a plain `sh`.

    Raises:
        Unreachable, HostKeyChanged, LoginRefused.
    """

    async def go():
        connection = await _connection(node)
        result = await connection.run("sh -s", input=script.encode(), encoding=None)
        if result.exit_status is None:  # asyncssh: the session ended without a status
            await _forget(node)
            raise Unreachable("the connection closed before the command ended")
        return Answer(result.exit_status, bytes(result.stdout), bytes(result.stderr))

    return _guarded(go, timeout, node)


def download(node: Node, command: str, sink: Callable[[bytes], None], timeout: float = 3600
             ) -> None:
    """Stream the standard output of a command into `sink`, chunk by chunk."""

    async def chunks() -> AsyncIterator[bytes]:
        connection = await _connection(node)
        async with connection.create_process(command, encoding=None) as process:
            while chunk := await process.stdout.read(256 * 1024):
                yield chunk
            await process.wait()
            if process.exit_status != 0:
                raise Unreachable(f"the download ended with {process.exit_status}")

    async def go():
        async for chunk in chunks():
            sink(chunk)

    _guarded(go, timeout, node)


def close_all() -> None:
    """Close this process's connections (tests, end of a worker)."""
    current = _current_loop()
    for connection in list(current.connections.values()):
        current.loop.call_soon_threadsafe(connection.abort)
    current.connections.clear()


def _key(node: Node) -> tuple:
    return node.pk, node.host, node.port, node.username, node.host_key


async def _connection(node: Node) -> asyncssh.SSHClientConnection:
    current = _current_loop()
    key = _key(node)
    async with current.locks.setdefault(key, asyncio.Lock()):
        connection = current.connections.get(key)
        if connection is None or connection.is_closed():
            connection = current.connections[key] = await _connect(node)
        return connection


async def _forget(node: Node) -> None:
    connection = _current_loop().connections.pop(_key(node), None)
    if connection:
        connection.abort()


async def _connect(node: Node) -> asyncssh.SSHClientConnection:
    pinned = asyncssh.import_public_key(node.host_key)
    keys = [asyncssh.import_private_key(node.private_key, node.passphrase or None)] \
        if node.private_key else ()
    return await asyncssh.connect(
        node.host, node.port, username=node.username, client_keys=keys,
        known_hosts=([pinned], [], []), agent_path=None if keys else (), config=None,
        login_timeout=LOGIN_TIMEOUT, connect_timeout=LOGIN_TIMEOUT, keepalive_interval=15,
        keepalive_count_max=3, encryption_algs=CIPHERS,
    )


def _guarded(function: Callable[[], Coroutine], timeout: float, node: Node | None = None) -> Any:
    try:
        return _current_loop().call(function(), timeout)
    except asyncssh.HostKeyNotVerifiable as error:
        raise HostKeyChanged(str(error)) from error
    except asyncssh.PermissionDenied as error:
        raise LoginRefused(str(error)) from error
    except (OSError, asyncssh.Error, TimeoutError) as error:
        if node is not None:
            _current_loop().call(_forget(node), 5)
        raise Unreachable(f"{type(error).__name__}: {error}".strip(": ")) from error
