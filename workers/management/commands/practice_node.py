"""Runs the practice node in the foreground."""

import asyncio
import contextlib
import errno
import signal
from pathlib import Path

import asyncssh
from django.core.management.base import BaseCommand, CommandError

from practice_node.server import PracticeNode, serve


class Command(BaseCommand):
    help = "Runs the practice node: a real SSH server on a loopback port."
    requires_system_checks = []  # it serves no page and reads no table

    def add_arguments(self, parser):
        parser.add_argument("--root", type=Path, required=True, help="folder of keys and home")
        parser.add_argument("--port", type=int, default=0, help="0: a free port")

    def handle(self, *args, root, port, **options):
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self._serve(root, port))

    async def _serve(self, root: Path, port: int) -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        try:
            server, node = await serve(root, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise CommandError(f"The practice node cannot start in {root}: {error}") from error
            raise CommandError(
                f"Port {port} of 127.0.0.1 is taken by another program; choose another with "
                "--port, or leave it out for a free one.") from error
        self._greet(node)
        await stop.wait()
        server.close()

    def _greet(self, node: PracticeNode) -> None:
        key = node.root / "keys" / "client_key"
        fingerprint = asyncssh.import_public_key(node.host_key).get_fingerprint()
        self.stdout.write(
            f"practice node: {node.username}@{node.host} port {node.port}, key {key}\n"
            f"host key: {fingerprint}\n"
            f"log in: ssh -i {key} -p {node.port} {node.username}@{node.host}")
        self.stdout.flush()
