"""The SSH server of the practice node: asyncssh, public-key login, real commands."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from practice_node.home import prepare_home
from practice_node.sessions import CommandSession

USERNAME = "practice"


@dataclass
class PracticeNode:
    """A running practice node: where it listens, and the key that opens it."""

    host: str
    port: int
    username: str
    private_key_text: str
    host_key: str
    root: Path


class _Login(asyncssh.SSHServer):
    """Lets the user `practice` in with the one known key, and by no other way."""

    def __init__(self, client_key: asyncssh.SSHKey, home: Path, environment: dict[str, str],
                 connections: set[asyncssh.SSHServerConnection]) -> None:
        self._client_key = client_key.convert_to_public()
        self._home = home
        self._environment = environment
        self._connections = connections

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._connections.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self._connection)

    def session_requested(self) -> CommandSession:
        return CommandSession(self._home, self._environment)

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == USERNAME and key == self._client_key


def stored_key(path: Path) -> asyncssh.SSHKey:
    """The private key in `path`, made on first use, readable by its owner only."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(path))
    return asyncssh.read_private_key(str(path))


class PracticeServer:
    """A listening practice node and the connections it has."""

    def __init__(self, acceptor: asyncssh.SSHAcceptor,
                 connections: set[asyncssh.SSHServerConnection]) -> None:
        self._acceptor = acceptor
        self._connections = connections

    def close(self) -> None:
        """Stop listening and cut every connection; detached jobs go on."""
        self._acceptor.close()
        for connection in list(self._connections):
            connection.abort()

    async def wait_closed(self) -> None:
        await self._acceptor.wait_closed()
        await asyncio.gather(*(c.wait_closed() for c in list(self._connections)))


async def serve(root: Path, port: int = 0) -> tuple[PracticeServer, PracticeNode]:
    """Listen on a loopback port.

    Args:
        root: folder of keys, home and toolbox; kept between starts.
        port: 0 for a free one.
    Raises:
        OSError: the port is taken.
    """
    root = root.resolve()
    environment = prepare_home(root)
    host_key = stored_key(root / "keys" / "host_key")
    client_key = stored_key(root / "keys" / "client_key")
    connections: set[asyncssh.SSHServerConnection] = set()
    acceptor = await asyncssh.create_server(
        lambda: _Login(client_key, root / "home", environment, connections), "127.0.0.1", port,
        server_host_keys=[host_key], encoding=None)
    return PracticeServer(acceptor, connections), PracticeNode(
        "127.0.0.1", acceptor.get_port(), USERNAME,
        (root / "keys" / "client_key").read_text(),
        host_key.export_public_key().decode().strip(), root)


@contextlib.contextmanager
def running_practice_node(root: Path, port: int = 0) -> Iterator[PracticeNode]:
    """The practice node in a thread, for tests and commands."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True, name="practice-node")
    thread.start()

    def run(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(30)

    try:
        server, node = run(serve(root, port))
        try:
            yield node
        finally:
            run(_stop(server))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


async def _stop(server: PracticeServer) -> None:
    """Close, and let the tasks of cut connections come to their end."""
    server.close()
    await asyncio.wait_for(server.wait_closed(), 10)
    rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    if rest:
        _done, late = await asyncio.wait(rest, timeout=2)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
