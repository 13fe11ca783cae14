"""What a login of the practice node may do: real commands and SFTP, both at home in its folder."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine
from pathlib import Path

import asyncssh
from asyncssh.process import SSHServerProcess

CHUNK = 64 * 1024
SFTP_VERSION = 3
GRACE_SECONDS = 2
PASSED_ON = ("LANG", "LC_", "PRACTICE_")  # variables a client may set, as AcceptEnv of sshd


class CommandSession(SSHServerProcess):
    """One command in a shell of its own session; the client's signals reach its process group."""

    def __init__(self, home: Path, environment: dict[str, str]) -> None:
        super().__init__(self._run, _sftp_at(home), SFTP_VERSION, True)
        self._home = home
        self._environment = environment
        self._group: int | None = None

    def signal_received(self, signal_name: str) -> None:
        number = getattr(signal, f"SIG{signal_name}", None)
        if number is not None:
            self._signal(number)

    def break_received(self, msec: int) -> bool:
        self._signal(signal.SIGINT)
        return True

    def _signal(self, number: int) -> None:
        if self._group is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._group, number)

    async def _run(self, process: asyncssh.SSHServerProcess) -> None:
        """Run the command to its end; a broken connection hangs up what is still in its group.

        Processes that made a session of their own (setsid) outlive the connection.
        """
        child = await asyncio.create_subprocess_exec(
            "/bin/sh", *(["-c", process.command] if process.command else []),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, cwd=self._home, start_new_session=True,
            env={**self._environment, **{name: value for name, value in process.env.items()
                                         if name.startswith(PASSED_ON)}})
        self._group = child.pid
        feeding = asyncio.ensure_future(_feed(process.stdin, child.stdin))
        try:
            if await _came_first(_finish(child, process), process.channel.wait_closed()):
                if child.returncode < 0:
                    name = signal.Signals(-child.returncode).name
                    process.exit_with_signal(name.removeprefix("SIG"))
                else:
                    process.exit(child.returncode)
        finally:
            feeding.cancel()
            if child.returncode is None:
                await self._hang_up(child)
            self._group = None

    async def _hang_up(self, child: asyncio.subprocess.Process) -> None:
        """Commands of a node that was started with nohup ignore SIGHUP."""
        self._signal(signal.SIGHUP)
        try:
            await asyncio.wait_for(child.wait(), GRACE_SECONDS)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await child.wait()


async def _finish(child: asyncio.subprocess.Process, process: asyncssh.SSHServerProcess) -> None:
    """All output passed on, and the command ended."""
    await asyncio.gather(_pump(child.stdout, process.stdout), _pump(child.stderr, process.stderr))
    await child.wait()


async def _pump(source, target) -> None:
    """Copy until the end, never ahead of what the other side takes.

    asyncssh's own redirect of an asyncio stream breaks the connection when a slow reader makes it
    pause (2.24.1: two reads of one stream), so it is not used.
    """
    with contextlib.suppress(asyncssh.Error, OSError):  # the other side has gone
        while chunk := await source.read(CHUNK):
            target.write(chunk)
            await target.drain()


async def _feed(source: asyncssh.SSHReader, child_input: asyncio.StreamWriter) -> None:
    await _pump(source, child_input)
    child_input.close()


async def _came_first(one: Coroutine, other: Coroutine) -> bool:
    """Whether `one` ended before `other`; what is left of them is cancelled."""
    first, second = asyncio.ensure_future(one), asyncio.ensure_future(other)
    try:
        await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)
        return first.done()
    finally:
        first.cancel()
        second.cancel()


def _sftp_at(home: Path) -> type[asyncssh.SFTPServer]:
    start = os.fsencode(home)

    class HomeSftp(asyncssh.SFTPServer):
        """The real file system; relative paths start in the home folder, as with sshd."""

        def map_path(self, path: bytes) -> bytes:
            return os.path.join(start, path)

    return HomeSftp
