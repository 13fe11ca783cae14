"""SSH to nodes: one event loop thread per process, one kept connection per node.

asyncssh 2.24; the numbers behind the settings stand in TECH: keep-alive finds a half-open peer
in seconds, AES-GCM first is half as dear. A connection is never made before a fork.
"""

import asyncio
import contextlib
import os
import queue
import re
import secrets
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import asyncssh

from workers.models import Node, NodeLogin
from workers.nodes.certificates import certified_key, key_fault
from workers.nodes.jump_hosts import chain_of

LOGIN_TIMEOUT = 15
KEEPALIVE = 15
MOST_OUTPUT = 64 * 2**20
AT_ONCE = 16  # nodes asked at the same time: more would time out together on a busy machine
MOST_LINES = 4  # connections to one node, where its sshd lets few sessions be open on each
PAUSES = (0.3, 1.0, 2.0)  # before a connection that sshd dropped at once is tried again
CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com",
           "aes256-ctr", "aes128-ctr")


NO_COMMON = re.compile(r"No matching (.+) algorithm found, sent \S+ and received (\S+)")
IN_WORDS = {TimeoutError: "timed out", asyncssh.ConnectionLost: "the connection was lost",
            asyncssh.ProtocolError: "what listens there does not keep to the SSH protocol",
            asyncssh.ProtocolNotSupported: "what listens there does not keep to the SSH protocol"}

class NodeError(Exception):
    """What goes wrong between us and a node. Each class says no more than what was seen."""


class Unreachable(NodeError):
    """The node did not answer, or the connection broke: nothing is known about the job."""


class NoAlgorithm(Unreachable):
    """The node answers, and its SSH server has no algorithm in common with us."""


class NotBegun(Unreachable):
    """The SSH server closes the connection before anybody logged in, as with MaxStartups."""


class JumpHostRefused(Unreachable):
    """A jump host let us in, but opens no connection to what lies behind it."""


class ChannelRefused(Unreachable):
    """The node lets us in, but opens no session, as with MaxSessions 0."""


class CommandTimedOut(Unreachable):
    """The connection stood, and a command did not end in time."""


class NoShell(Unreachable):
    """The node lets us in, but its log-in shell does not run our commands."""


class HostKeyChanged(NodeError):
    """The node showed another host key than the pinned one."""


class LoginRefused(NodeError):
    """The node does not accept the user or key."""


class ScriptFailed(NodeError):
    """The node ran our script, and that failed: a fault of what it worked on, not of the node."""

    def __init__(self, exit_status: int | None, stderr: bytes) -> None:
        self.words = stderr[-2000:].decode(errors="replace").strip()
        super().__init__(f"{self.words} (exit status {exit_status})".strip())


class AnswerIncomplete(ScriptFailed):
    """The node ran our script, which did not say all that it was asked."""

    def __init__(self, answer: "Answer | bytes") -> None:
        if isinstance(answer, bytes):
            answer = Answer(None, answer, b"")
        super().__init__(answer.exit_status, answer.stderr or answer.stdout[-300:])


Access = Node | NodeLogin  # what is logged in with


@dataclass(frozen=True)
class Answer:
    """What a command answered; no status where only its output is at hand."""

    exit_status: int | None
    stdout: bytes
    stderr: bytes


@dataclass(eq=False)
class _Line:
    """A connection, how many of our sessions are open on it, and how many its sshd lets be."""

    connection: asyncssh.SSHClientConnection
    of_node: "_Lines"
    most: int | None = None
    open: int = 0
    served: int = 0

    @property
    def has_room(self) -> bool:
        return self.most is None or self.open < self.most


@dataclass(eq=False)
class _Lines:
    """The connections to one node."""

    lines: list[_Line] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    most: int | None = None

    def abort(self) -> None:
        for line in self.lines:
            line.connection.abort()
        self.lines.clear()


class _Loop:
    """The event loop thread of this process, and its connections by node."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.nodes: dict[tuple, _Lines] = {}
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
        key = await _tunnelled(node.host, node.port, asyncssh.get_server_host_key(
            node.host, node.port, tunnel=tunnel))
        if key is None:  # why it shows none is told to those who log in
            with contextlib.suppress(asyncssh.PermissionDenied):
                await _opened(node.host, node.port, tunnel, username=node.username,
                              known_hosts=None, **{**_login(node), "client_keys": (),
                                                   "agent_path": None})
            raise Unreachable(f"{node.host}:{node.port} offered no host key")
        return key.export_public_key("openssh").decode().strip()

    return _guarded(fetch, LOGIN_TIMEOUT)


def fingerprint(public_key: str) -> str:
    """SHA256:… of an OpenSSH public-key line, as ssh-keygen prints it."""
    return asyncssh.import_public_key(public_key).get_fingerprint()


def check_private_key(text: str, passphrase: str = "") -> None:
    """Raises ValueError with the sentence for people when the key cannot be used."""
    try:
        asyncssh.import_private_key(text, passphrase or None)
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise ValueError(key_fault(text, error)) from error


def run(node: Access, script: str, timeout: float = 60) -> Answer:
    """Run a POSIX sh script on the node, given on standard input of a plain `sh`.

    What a log-in shell prints before it is left out of the answer. Raises NodeError, NoShell
    where the script was not run.
    """
    return _guarded(lambda: _run(node, script), timeout, node)


def shell_seconds(node: Access) -> float:
    """Seconds until a command answers on a connection that stands: what every step waits for.

    Raises NodeError.
    """
    for _connecting in (True, False):
        begun = time.monotonic()
        run(node, "true\n")
    return time.monotonic() - begun


def sessions_at_once(node: Access) -> int | None:
    """How many sessions the node's sshd lets be open on one connection, if fewer than two; else
    None. Raises NodeError."""

    async def go() -> int | None:
        async with _session(node, "sh -s") as first:
            async with _session(node, "sh -s") as second:
                await _answered(second, "true\n")
            await _answered(first, "true\n")
        return _current_loop().nodes[_key(node)].most  # as the second one has taught

    return _guarded(go, 60, node)


def run_with_password(node: Node, password: str, script: str) -> Answer:
    """As `run`, over a connection of its own that a password opens; nothing keeps the password."""

    async def go() -> Answer:
        tunnel = await _connect_bastion(node) if node.bastion_host else None
        options = {**_login(node), "client_keys": (), "agent_path": None, "password": password}
        async with asyncssh.connect(
                node.host, node.port, username=node.username, tunnel=tunnel,
                known_hosts=([asyncssh.import_public_key(node.host_key)], [], []),
                **options) as connection, \
                connection.create_process("sh -s", encoding=None) as process:
            return await _answered(process, script)

    return _guarded(go, 60)


async def _run(node: Access, script: str) -> Answer:
    async with _session(node, "sh -s") as process:
        return await _answered(process, script)


class _Cut(Exception):
    """The connection ended before the command did."""


def _marked(script: str) -> tuple[bytes, str]:
    """A line that nobody else prints, and the script that begins with printing it."""
    mark = f"desk shell {secrets.token_hex(8)}"
    return f"{mark}\n".encode(), f"echo '{mark}'\n{script}"


async def _answered(process: asyncssh.SSHClientProcess, script: str) -> Answer:
    mark, text = _marked(script)
    _give(process, text)
    out, err = await asyncio.gather(_all_of(process.stdout), _all_of(process.stderr))
    return _after_mark(mark, Answer(await _status(process), out, err))


def _after_mark(mark: bytes, answer: Answer) -> Answer:
    """The answer of the script itself. Raises NoShell where nothing shows that it was run."""
    _before, found, out = answer.stdout.partition(mark)
    if not found:
        raise _no_shell(answer.stdout + answer.stderr)
    return Answer(answer.exit_status, out, answer.stderr)


def _no_shell(printed: bytes) -> NoShell:
    words = printed[-300:].decode(errors="replace").strip()
    return NoShell(f"the log-in shell did not run our script and printed: {words or '-'}")


async def _status(process: asyncssh.SSHClientProcess) -> int:
    await process.wait()
    if process.exit_status is None:  # asyncssh: the session ended without a status
        raise _Cut("the connection closed before the command ended")
    return process.exit_status


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
                translated = _translated(error, node, timeout)
                if not isinstance(error, ScriptFailed):
                    await _forget(node)
                arrived.put((node, translated))

    for node, script in scripts:
        asyncio.run_coroutine_threadsafe(one(node, script), current.loop)
    for _each in scripts:
        yield arrived.get(timeout=2 * timeout * (1 + len(scripts) // AT_ONCE))


def download(node: Access, script: str, sink: Callable[[bytes], None], timeout: float = 3600
             ) -> None:
    """Stream what a script writes after the line "$data_mark" into `sink`, chunk by chunk.

    The mark is another one each time, so that no log-in shell prints it. Raises NodeError:
    Unreachable if the stream ends early, ScriptFailed if the script fails.
    """
    data_mark = f"desk data {secrets.token_hex(8)}"

    async def go():
        mark, text = _marked(f"data_mark='{data_mark}'\n{script}")
        async with _session(node, "sh -s") as process:
            _give(process, text)
            before, err = await asyncio.gather(
                _streamed(process.stdout, f"{data_mark}\n".encode(), sink),
                _all_of(process.stderr))
            status = await _status(process)
        if before is not None:
            raise AnswerIncomplete(_after_mark(mark, Answer(status, before, err)))
        if status:
            raise ScriptFailed(status, err)

    _guarded(go, timeout, node)


async def _streamed(stream: asyncssh.SSHReader, mark: bytes, sink: Callable[[bytes], None]
                    ) -> bytes | None:
    """Hand on what follows the mark; without it, what came in its place."""
    seen = b""
    while (at := seen.find(mark)) < 0:
        chunk = await stream.read(64 * 1024)
        if not chunk:
            return seen
        seen += chunk
        if len(seen) > 2**20:
            raise _no_shell(seen)
    if rest := seen[at + len(mark):]:
        sink(rest)
    while chunk := await stream.read(1024 * 1024):
        sink(chunk)
    return None


def upload(node: Access, script: str, pieces: Iterable[bytes], timeout: float = 3600) -> Answer:
    """Run a script whose standard input are these pieces, taken as fast as the node reads.

    The pieces are asked for in a thread of their own; what that raises ends the connection and is
    raised here. Raises NodeError.
    """
    mark, script = _marked(script)
    text = _bytes(script)
    # A shell may read ahead on its input: dd takes exactly the script, the rest is the command's.
    command = f"sh -c 'eval \"$(dd bs=1 count={len(text)} 2>/dev/null)\"'"

    async def go() -> Answer:
        source = iter(pieces)
        async with _session(node, command) as process:
            process.stdin.write(text)
            answer = asyncio.gather(_all_of(process.stdout), _all_of(process.stderr))
            with contextlib.suppress(BrokenPipeError):  # the script has ended; it says why
                while (piece := await asyncio.to_thread(next, source, None)) is not None:
                    process.stdin.write(piece)
                    await process.stdin.drain()
                process.stdin.write_eof()
            out, err = await answer
            return _after_mark(mark, Answer(await _status(process), out, err))

    return _guarded(go, timeout, node)


def close_all() -> None:
    """Close this process's connections (tests, end of a worker)."""
    current = _current_loop()
    for lines in list(current.nodes.values()):
        current.loop.call_soon_threadsafe(lines.abort)
    current.nodes.clear()


def _key(node: Access) -> tuple:
    """Tells connections apart; begins with whose it is, and changes with every way to log in."""
    return (type(node), node.pk, node.host, node.port, node.username, node.host_key,
            node.bastion_host, node.bastion_port, node.bastion_login.jump_hosts,
            hash(node.private_key), hash(node.certificate))


@contextlib.asynccontextmanager
async def _session(node: Access, command: str) -> AsyncIterator[asyncssh.SSHClientProcess]:
    """A session with that command.

    Where sshd refuses one beside others (MaxSessions), it gets a connection of its own; where it
    refuses the only one, a new connection is tried once. Raises ChannelRefused.
    """
    while True:
        line = await _line(node)
        try:
            try:
                process = await line.connection.create_process(command, encoding=None)
            except asyncssh.ChannelOpenError as error:
                _refused(line, error)
                continue
            line.served += 1
            async with process:
                yield process
            return
        finally:
            line.open -= 1
            async with line.of_node.changed:
                line.of_node.changed.notify_all()


async def _line(node: Access) -> _Line:
    """A connection with room for a session, which counts as open from now on."""
    current, key = _current_loop(), _key(node)
    found = current.nodes.setdefault(key, _Lines())
    async with found.changed:
        while True:
            found.lines = [line for line in found.lines if not line.connection.is_closed()]
            line = next((line for line in found.lines if line.has_room), None)
            if line is None and len(found.lines) < MOST_LINES:
                for other in [other for other in current.nodes
                              if other[:2] == key[:2] and other != key]:
                    current.nodes.pop(other).abort()  # made with an older key or address
                line = _Line(await _connect(node), found, found.most)
                found.lines.append(line)
            if line:
                line.open += 1
                return line
            await found.changed.wait()


def _refused(line: _Line, error: asyncssh.ChannelOpenError) -> None:
    """What a refused session teaches. Raises ChannelRefused where it was the first and only one."""
    is_closed = "connection closed" in str(error)  # asyncssh, of one that is about to close
    if line.open > 1 and not is_closed:
        line.of_node.most = line.most = line.open - 1
        return
    with contextlib.suppress(ValueError):
        line.of_node.lines.remove(line)  # at once: it is closed only when the loop comes to it
    line.connection.abort()
    if is_closed and not line.served:
        raise _Cut("the connection closed after the log-in") from error
    if not line.served:
        raise ChannelRefused(f"the node's sshd opens no session: {error}") from error


async def _forget(node: Access) -> None:
    if found := _current_loop().nodes.pop(_key(node), None):
        found.abort()
        async with found.changed:
            found.changed.notify_all()


async def _opened(host: str, port: int, tunnel: asyncssh.SSHClientConnection | None,
                  **options) -> asyncssh.SSHClientConnection:
    """A connection. One that is dropped before the log-in is tried again: an sshd with many
    log-ins under way (MaxStartups) drops some. Raises NotBegun, JumpHostRefused."""
    for pause in (*PAUSES, None):
        try:
            return await _tunnelled(host, port, asyncssh.connect(
                host, port, tunnel=tunnel, **options))
        except (asyncssh.ConnectionLost, ConnectionResetError) as error:
            if "timeout" in str(error):
                raise TimeoutError(str(error)) from error
            if pause is None:
                raise NotBegun(f"{host}:{port} closed the connection before the log-in: {error}"
                               ) from error
            await asyncio.sleep(pause)
    raise AssertionError("the last try returns or raises")


async def _tunnelled(host: str, port: int, connecting: Awaitable[Any]) -> Any:
    """What an attempt to connect gives. A channel is asked of jump hosts only at that time."""
    try:
        return await connecting
    except asyncssh.ChannelOpenError as error:
        raise JumpHostRefused(f"the jump host opens no connection to {host}:{port}: {error}"
                              ) from error


async def _connect(node: Access) -> asyncssh.SSHClientConnection:
    """Log in, through the node's bastions where it has any. All host keys are pinned."""
    tunnel = await _connect_bastion(node) if node.bastion_host else None
    return await _opened(
        node.host, node.port, tunnel, username=node.username,
        known_hosts=([asyncssh.import_public_key(node.host_key)], [], []), **_login(node))


async def _connect_bastion(access: Access) -> asyncssh.SSHClientConnection:
    """The connection to the last bastion of the chain, through those before it."""
    node = access.bastion_login
    tunnel = await _opened(
        node.bastion_host, node.bastion_port, None,
        username=node.bastion_username or node.username,
        known_hosts=([asyncssh.import_public_key(node.bastion_host_key)], [], []),
        **_login(node))
    for hop in chain_of(node.jump_hosts):
        tunnel = await _opened(
            hop.host, hop.port, tunnel, username=hop.username or node.username,
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
    except (OSError, asyncssh.Error, TimeoutError, ValueError, _Cut, Unreachable) as error:
        translated = _translated(error, node, timeout)
        if node is not None:
            _current_loop().call(_forget(node), 5)
        raise translated from error


def _translated(error: Exception, node: Access | None, timeout: float) -> Exception:
    """The exception of this module that says what a lower one means."""
    words = IN_WORDS.get(type(error), "" if str(error) else "the connection failed")
    translated: Exception = Unreachable(f"{words}: {error}".strip(": "))
    if isinstance(error, NodeError):
        translated = error
    elif isinstance(error, asyncssh.HostKeyNotVerifiable):
        translated = HostKeyChanged(str(error))
    elif isinstance(error, asyncssh.PermissionDenied):
        translated = LoginRefused(str(error))
    elif isinstance(error, asyncssh.KeyExchangeFailed):
        found = NO_COMMON.search(str(error))
        translated = NoAlgorithm(f"no common {found[1]} algorithm; the node offers {found[2]}"
                                 if found else str(error))
    elif isinstance(error, ValueError):
        translated = LoginRefused(f"the stored key cannot be used: {error}")
    elif isinstance(error, TimeoutError) and node is not None and _is_logged_in(node):
        translated = CommandTimedOut(f"a command did not end within {timeout:g} s")
    return translated


def _is_logged_in(node: Access) -> bool:
    found = _current_loop().nodes.get(_key(node))
    return bool(found) and any(line.served and not line.connection.is_closed()
                               for line in found.lines)
