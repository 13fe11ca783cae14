"""SSH to nodes: one event loop thread per process, one kept connection per node.

asyncssh 2.24; the numbers behind the settings stand in TECH: keep-alive finds a half-open peer
in seconds, AES-GCM first is half as dear. A connection is never made before a fork.
"""

import asyncio
import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import asyncssh

from workers.models import Node, NodeLogin
from workers.nodes.certificates import certified_key
from workers.nodes.jump_hosts import chain_of

LOGIN_TIMEOUT = 15
KEEPALIVE = 15
MOST_OUTPUT = 64 * 2**20
AT_ONCE = 16  # nodes asked at the same time: more would time out together on a busy machine
DATA_MARK = b"desk data\n"
CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com",
           "aes256-ctr", "aes128-ctr")


class Unreachable(Exception):
    """The node did not answer, or the connection broke: nothing is known about the job."""


class NoShell(Unreachable):
    """The node lets us in, but its log-in shell does not run our commands."""


class HostKeyChanged(Exception):
    """The node showed another host key than the pinned one."""


class LoginRefused(Exception):
    """The node does not accept the user or key."""


class ScriptFailed(Exception):
    """The node ran our script, and that failed: a fault of what it worked on, not of the node."""

    def __init__(self, exit_status: int, stderr: bytes) -> None:
        self.words = stderr[-2000:].decode(errors="replace").strip()
        super().__init__(f"{self.words} (exit status {exit_status})".strip())


Access = Node | NodeLogin  # what is logged in with


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
        self.turns = asyncio.Semaphore(AT_ONCE)
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


def fetch_host_key(node: Node) -> str:
    """The host key a server offers, as an OpenSSH public-key line. Raises Unreachable."""

    async def fetch():
        tunnel = await _connect_bastion(node) if node.bastion_host else None
        key = await asyncssh.get_server_host_key(node.host, node.port, tunnel=tunnel)
        if key is None:
            raise Unreachable(f"{node.host}:{node.port} offered no host key")
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


def run(node: Access, script: str, timeout: float = 60) -> Answer:
    """Run a POSIX sh script on the node, given on standard input of a plain `sh`.

    Raises:
        Unreachable, HostKeyChanged, LoginRefused.
    """
    return _guarded(lambda: _run(node, script), timeout, node)


def shell_seconds(node: Access) -> float:
    """Seconds until a command answers on a connection that stands: what every step waits for.

    Raises:
        Unreachable, NoShell, HostKeyChanged, LoginRefused.
    """
    for _connecting in (True, False):
        begun = time.monotonic()
        answer = run(node, "echo desk ready\n")
        if b"desk ready" not in answer.stdout:
            raise no_shell(answer.stdout + answer.stderr)
    return time.monotonic() - begun


def no_shell(output: bytes) -> NoShell:
    """For an answer that holds nothing of what our script prints."""
    return NoShell("the node answered without the expected line: "
                   + output[-300:].decode(errors="replace"))


def run_with_password(node: Node, password: str, script: str) -> Answer:
    """As `run`, over a connection of its own that a password opens; nothing keeps the password."""

    async def go() -> Answer:
        tunnel = await _connect_bastion(node) if node.bastion_host else None
        options = {**_login(node), "client_keys": (), "agent_path": None, "password": password}
        async with asyncssh.connect(
                node.host, node.port, username=node.username, tunnel=tunnel,
                known_hosts=([asyncssh.import_public_key(node.host_key)], [], []),
                **options) as connection:
            return await _run_over(connection, script)

    return _guarded(go, 60)


async def _run(node: Access, script: str) -> Answer:
    try:
        return await _run_over(await _connection(node), script)
    except _Cut as error:
        await _forget(node)
        raise Unreachable(str(error)) from error


class _Cut(Exception):
    """The connection ended before the command did."""


async def _run_over(connection: asyncssh.SSHClientConnection, script: str) -> Answer:
    async with connection.create_process("sh -s", encoding=None) as process:
        _give(process, script)
        out, err = await asyncio.gather(_all_of(process.stdout), _all_of(process.stderr))
        await process.wait()
    if process.exit_status is None:  # asyncssh: the session ended without a status
        raise _Cut("the connection closed before the command ended")
    return Answer(process.exit_status, out, err)


def _give(process: asyncssh.SSHClientProcess, script: str) -> None:
    """A log-in shell that has ended by now reads none of it; what it printed says why."""
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(_bytes(script))
        process.stdin.write_eof()


async def _all_of(stream: asyncssh.SSHReader) -> bytes:
    parts, size = [], 0
    while chunk := await stream.read(256 * 1024):
        parts.append(chunk)
        size += len(chunk)
        if size > MOST_OUTPUT:
            raise Unreachable(f"the node answered with more than {MOST_OUTPUT} bytes")
    return b"".join(parts)


def _bytes(script: str) -> bytes:
    """File names of a node may hold bytes that are no UTF-8; they travel as surrogates."""
    return script.encode("utf-8", "surrogateescape")


def run_many(scripts: list[tuple[Access, str]], timeout: float = 20
             ) -> Iterator[tuple[Access, Answer | Exception]]:
    """Run one script on each of many nodes; answers come in the order of arrival.

    A node that fails gives the exception that `run` would raise, and holds up nobody: some nodes
    are asked at the same time, and each has its own `timeout` from its turn on.
    """
    arrived: queue.Queue[tuple[Access, Answer | Exception]] = queue.Queue()
    current = _current_loop()

    async def one(node: Access, script: str) -> None:
        async with current.turns:
            try:
                arrived.put((node, await asyncio.wait_for(_run(node, script), timeout)))
            except Exception as error:
                await _forget(node)
                arrived.put((node, _translated(error)))

    for node, script in scripts:
        asyncio.run_coroutine_threadsafe(one(node, script), current.loop)
    for _each in scripts:
        yield arrived.get(timeout=2 * timeout * (1 + len(scripts) // AT_ONCE))


def download(node: Access, script: str, sink: Callable[[bytes], None], timeout: float = 3600
             ) -> None:
    """Stream what a script writes after the line `desk data` into `sink`, chunk by chunk.

    Raises Unreachable if the stream ends early, ScriptFailed if the script fails.
    """

    async def take(stream: asyncssh.SSHReader) -> None:
        await _after_marker(stream, sink)
        while chunk := await stream.read(1024 * 1024):
            sink(chunk)

    async def go():
        connection = await _connection(node)
        async with connection.create_process("sh -s", encoding=None) as process:
            _give(process, script)
            _taken, err = await asyncio.gather(take(process.stdout), _all_of(process.stderr))
            await process.wait()
        if process.exit_status is None:
            raise _Cut("the connection closed before the command ended")
        if process.exit_status:
            raise ScriptFailed(process.exit_status, err)

    _guarded(go, timeout, node)


def upload(node: Access, script: str, pieces: Iterable[bytes], timeout: float = 3600) -> Answer:
    """Run a script whose standard input are these pieces, taken as fast as the node reads.

    The pieces are asked for in a thread of their own; what that raises ends the connection and is
    raised here. Raises Unreachable, HostKeyChanged, LoginRefused.
    """
    text = _bytes(script)
    # A shell may read ahead on its input: dd takes exactly the script, the rest is the command's.
    command = f"sh -c 'eval \"$(dd bs=1 count={len(text)} 2>/dev/null)\"'"

    async def go() -> Answer:
        connection, source = await _connection(node), iter(pieces)
        async with connection.create_process(command, encoding=None) as process:
            process.stdin.write(text)
            answer = asyncio.gather(_all_of(process.stdout), _all_of(process.stderr))
            with contextlib.suppress(BrokenPipeError):  # the script has ended; it says why
                while (piece := await asyncio.to_thread(next, source, None)) is not None:
                    process.stdin.write(piece)
                    await process.stdin.drain()
                process.stdin.write_eof()
            out, err = await answer
            await process.wait()
        if process.exit_status is None:
            raise _Cut("the connection closed before the command ended")
        return Answer(process.exit_status, out, err)

    return _guarded(go, timeout, node)


async def _after_marker(stream: asyncssh.SSHReader, sink: Callable[[bytes], None]) -> None:
    """Skip what a login shell printed before our own first line."""
    seen = b""
    while (at := seen.find(DATA_MARK)) < 0:
        chunk = await stream.read(64 * 1024)
        if not chunk or len(seen) > 2**20:
            raise no_shell(seen)
        seen += chunk
    if rest := seen[at + len(DATA_MARK):]:
        sink(rest)


def close_all() -> None:
    """Close this process's connections (tests, end of a worker)."""
    current = _current_loop()
    for connection in list(current.connections.values()):
        current.loop.call_soon_threadsafe(connection.abort)
    current.connections.clear()


def _key(node: Access) -> tuple:
    """Tells connections apart; begins with whose it is, and changes with every way to log in."""
    return (type(node), node.pk, node.host, node.port, node.username, node.host_key,
            node.bastion_host, node.bastion_port, node.bastion_login.jump_hosts,
            hash(node.private_key), hash(node.certificate))


async def _connection(node: Access) -> asyncssh.SSHClientConnection:
    current = _current_loop()
    key = _key(node)
    async with current.locks.setdefault(key, asyncio.Lock()):
        connection = current.connections.get(key)
        if connection is None or connection.is_closed():
            for other in [other for other in current.connections
                          if other[:2] == key[:2] and other != key]:
                current.connections.pop(other).abort()  # made with an older key or address
            connection = current.connections[key] = await _connect(node)
        return connection


async def _forget(node: Access) -> None:
    connection = _current_loop().connections.pop(_key(node), None)
    if connection:
        connection.abort()


async def _connect(node: Access) -> asyncssh.SSHClientConnection:
    """Log in, through the node's bastions where it has any. All host keys are pinned."""
    tunnel = await _connect_bastion(node) if node.bastion_host else None
    return await asyncssh.connect(
        node.host, node.port, username=node.username, tunnel=tunnel,
        known_hosts=([asyncssh.import_public_key(node.host_key)], [], []), **_login(node))


async def _connect_bastion(access: Access) -> asyncssh.SSHClientConnection:
    """The connection to the last bastion of the chain, through those before it."""
    node = access.bastion_login
    tunnel = await asyncssh.connect(
        node.bastion_host, node.bastion_port, username=node.bastion_username or node.username,
        known_hosts=([asyncssh.import_public_key(node.bastion_host_key)], [], []),
        **_login(node))
    for hop in chain_of(node.jump_hosts):
        tunnel = await asyncssh.connect(
            hop.host, hop.port, username=hop.username or node.username, tunnel=tunnel,
            known_hosts=([asyncssh.import_public_key(hop.host_key)], [], []), **_login(node))
    return tunnel


def _login(node: Access) -> dict[str, Any]:
    """The node's key, or the agent of the worker where the node has none stored."""
    keys = [certified_key(node.private_key, node.passphrase, node.certificate)] \
        if node.private_key else ()
    return {"client_keys": keys, "agent_path": None if keys else os.environ.get("SSH_AUTH_SOCK"),
            "config": None, "login_timeout": LOGIN_TIMEOUT, "connect_timeout": LOGIN_TIMEOUT,
            "keepalive_interval": KEEPALIVE, "keepalive_count_max": 3,
            "encryption_algs": CIPHERS}


def _guarded(function: Callable[[], Coroutine], timeout: float, node: Access | None = None) -> Any:
    try:
        return _current_loop().call(function(), timeout)
    except (OSError, asyncssh.Error, TimeoutError, ValueError, _Cut) as error:
        if node is not None:
            _current_loop().call(_forget(node), 5)
        raise _translated(error) from error


def _translated(error: Exception) -> Exception:
    """The exception of this module that says what a lower one means."""
    if isinstance(error, (Unreachable, HostKeyChanged, LoginRefused)):
        return error
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return HostKeyChanged(str(error))
    if isinstance(error, asyncssh.PermissionDenied):
        return LoginRefused(str(error))
    return Unreachable(f"{type(error).__name__}: {error}".strip(": "))
