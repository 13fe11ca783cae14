"""Runs the practice node in the foreground."""

import asyncio
import contextlib
import signal
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from workers.practice_node.server import serve


class Command(BaseCommand):
    help = "Runs the practice node: a real SSH server on a loopback port."

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
            acceptor, node = await serve(root, port)
        except OSError as error:
            raise CommandError(f"Port {port} is taken; choose another one.") from error
        self.stdout.write(f"practice node: {node.username}@{node.host} port {node.port}, "
                          f"key {node.root / 'keys' / 'client_key'}")
        await stop.wait()
        acceptor.close()
