"""The SSH server of the practice node: asyncssh, public-key login, real commands."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from workers.practice_node.home import prepare_home

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
    """Lets the user `practice` in with the one known key."""

    def __init__(self, client_key: asyncssh.SSHKey) -> None:
        self._client_key = client_key.convert_to_public()

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == USERNAME and key == self._client_key


def kept_key(path: Path) -> asyncssh.SSHKey:
    """The private key in `path`, made on first use, readable by its owner only."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(path))
    return asyncssh.read_private_key(str(path))


async def serve(root: Path, port: int = 0) -> tuple[asyncssh.SSHAcceptor, PracticeNode]:
    """Listen on a loopback port.

    Args:
        root: folder of keys, home and toolbox; kept between starts.
        port: 0 for a free one.
    Raises:
        OSError: the port is taken.
    """
    root = root.resolve()
    environment = prepare_home(root)
    host_key = kept_key(root / "keys" / "host_key")
    client_key = kept_key(root / "keys" / "client_key")

    async def run(process: asyncssh.SSHServerProcess) -> None:
        await _run_command(process, root / "home", environment)

    acceptor = await asyncssh.create_server(
        lambda: _Login(client_key), "127.0.0.1", port, server_host_keys=[host_key],
        process_factory=run, encoding=None, sftp_factory=True, allow_scp=True)
    return acceptor, PracticeNode(
        "127.0.0.1", acceptor.get_port(), USERNAME,
        client_key.export_private_key().decode(),
        host_key.export_public_key().decode().strip(), root)


async def _run_command(process: asyncssh.SSHServerProcess, home: Path, environment: dict) -> None:
    """Run the command in a shell of its own session; its detached children outlive it."""
    child = await asyncio.create_subprocess_exec(
        "/bin/sh", *(["-c", process.command] if process.command else []),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, cwd=home, env=environment, start_new_session=True)
    try:
        await process.redirect(stdin=child.stdin, stdout=child.stdout, stderr=child.stderr)
        status = await child.wait()
        await process.stdout.drain()
        if status < 0:
            process.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
        else:
            process.exit(status)
    except (asyncio.CancelledError, asyncssh.Error, OSError):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGHUP)
        raise


@contextlib.contextmanager
def running_practice_node(root: Path, port: int = 0) -> Iterator[PracticeNode]:
    """The practice node in a thread, for tests and commands."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True, name="practice-node")
    thread.start()
    acceptor, node = asyncio.run_coroutine_threadsafe(serve(root, port), loop).result(30)
    try:
        yield node
    finally:
        loop.call_soon_threadsafe(acceptor.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
