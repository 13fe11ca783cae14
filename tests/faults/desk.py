"""The desk under test: its own database, broker and store, its processes restarted when killed."""

import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


class Desk:
    """Worker, beat and web of one installation. Subclasses bring database and broker."""

    name = ""
    nodes_address = services_address = "127.0.0.1"

    def __init__(self, folder: Path) -> None:
        self.folder, self.chance = folder, random.Random()
        self.running: dict[str, subprocess.Popen] = {}
        self.is_stopping = False
        self.deaths = 0
        self.database_lock = threading.Lock()
        folder.mkdir(parents=True)
        self.store = folder / "store"
        self.store.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=768m", "tmpfs", self.store], check=True)
        self.environment = {
            "DJANGO_SETTINGS_MODULE": "tests.faults.settings", "DESK_VAR_DIR": str(folder / "var"),
            "DESK_ARTIFACT_DIR": str(self.store), "DESK_LOG_LEVEL": "ERROR",
            "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}

    def start(self) -> None:
        self.web_port = free_port()
        self.commands = self.processes(self.web_port)
        threading.Thread(target=self._keep_running, daemon=True).start()

    def processes(self, port: int) -> dict[str, list[str]]:
        """The command of each process; the portal answers at the port."""
        python = [sys.executable, "-W", "ignore", "-m"]
        celery = [*python, "celery", "-q", "-A", "delivery"]
        return {
            "worker": [*celery, "worker", "-P", "threads", "-c", "4", "--loglevel", "error",
                       "--without-gossip", "--without-mingle"],
            "beat": [*celery, "beat", "--loglevel", "error", "--pidfile="],
            "web": [*python, "gunicorn", "delivery.wsgi:application", "--bind",
                    f"127.0.0.1:{port}", "--threads", "4", "--log-level", "error"]}

    def is_wanted(self, process: str) -> bool:
        """Whether a process that ended is started again now."""
        return True

    def lasting_faults(self) -> list[tuple[int, str, Callable[[], Callable[[bool], None]]]]:
        """Weight and name of what can befall the desk for a while, and what switches one on and
        off."""
        return []

    def _keep_running(self) -> None:
        log = (self.folder / "processes.log").open("ab")
        while not self.is_stopping:
            for name, command in self.commands.items():
                process = self.running.get(name)
                if self.is_wanted(name) and (process is None or process.poll() is not None):
                    self.deaths += process is not None
                    self.running[name] = subprocess.Popen(
                        command, cwd=ROOT, env={**os.environ, **self.environment}, stdout=log,
                        stderr=log, start_new_session=True)
            time.sleep(0.2)

    def kill(self, name: str) -> None:
        """kill -9 of a process and of everything it started."""
        with contextlib.suppress(ProcessLookupError, KeyError):
            os.killpg(self.running[name].pid, signal.SIGKILL)

    def stop(self) -> None:
        self.is_stopping = True
        time.sleep(0.5)
        for name in list(self.running):
            self.kill(name)
        for process in self.running.values():
            process.wait()
        subprocess.run(["umount", "-l", self.store], check=False)

    def fill_store(self, is_full: bool) -> None:
        filler = self.store / "filler"
        if not is_full:
            filler.unlink(missing_ok=True)
            return
        with contextlib.suppress(OSError), filler.open("wb") as stream:
            while True:
                stream.write(b"\0" * 2**20)


class EmbeddedDesk(Desk):
    """SQLite and the broker in a folder."""

    name = "SQLite + embedded broker"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.environment |= {"DATABASE_URL": f"sqlite:///{folder / 'desk.sqlite3'}",
                             "REDIS_URL": ""}

    def _messages(self) -> list[Path]:
        return list((self.folder / "var" / "queue" / "messages").glob("*.msg"))

    def empty_broker(self) -> None:
        for message in self._messages():
            message.unlink(missing_ok=True)

    def double_messages(self, chance: random.Random) -> None:
        """Copies of what waits, in another order, and one message that was cut short."""
        messages = self._messages()
        chance.shuffle(messages)
        for number, message in enumerate(messages):
            with contextlib.suppress(OSError):
                shutil.copy(message, message.with_name(
                    f"{time.time_ns()}_{number}_celery.celery.msg"))
        folder = self.folder / "var" / "queue" / "messages"
        (folder / f"{time.time_ns()}_x_celery.celery.msg").touch()

    def disturb_database(self, chance: random.Random) -> None:
        """Somebody else holds the database for some seconds."""
        with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(
                sqlite3.connect(self.folder / "desk.sqlite3", timeout=10)) as other:
            other.execute("begin exclusive")
            time.sleep(chance.uniform(1, 6))
            other.rollback()


class ServerDesk(Desk):
    """PostgreSQL and Redis, both of its own, because both get killed."""

    name = "PostgreSQL + Redis"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.redis_port, self.postgres_port = free_port(), free_port()
        self.bin = max(Path("/usr/lib/postgresql").glob("*/bin"))
        self.data = folder / "postgres"
        self.data.mkdir()
        for place in (folder, *folder.parents):
            place.chmod(place.stat().st_mode | 0o011)
        shutil.chown(self.data, "postgres")
        self._postgres("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8")
        (self.data / "postgresql.conf").open("a").write(
            f"port={self.postgres_port}\nlisten_addresses='{self.services_address}'\n"
            f"unix_socket_directories='{self.data}'\nfsync=off\n")
        (self.data / "pg_hba.conf").open("a").write("host all all 10.0.0.0/8 trust\n")
        self._postgres("pg_ctl", "-D", self.data, "-l", self.data / "log", "-w", "start")
        self._start_redis()
        self.environment |= {
            "DATABASE_URL": f"postgresql://postgres@{self.services_address}:{self.postgres_port}/postgres",
            "REDIS_URL": f"redis://{self.services_address}:{self.redis_port}/0"}

    def _postgres(self, program: str, *arguments) -> None:
        subprocess.run(["runuser", "-u", "postgres", "--", self.bin / program, *arguments],
                       check=True, stdout=subprocess.DEVNULL, cwd="/")

    def _start_redis(self) -> None:
        self.redis = subprocess.Popen(
            ["redis-server", "--port", str(self.redis_port), "--save", "", "--bind",
             self.services_address, "--protected-mode", "no"],
            stdout=subprocess.DEVNULL)

    def _client(self):
        import redis

        return redis.Redis(self.services_address, self.redis_port, socket_timeout=5)

    def empty_broker(self) -> None:
        """Redis is killed and comes back without a memory."""
        self.redis.kill()
        self.redis.wait()
        self._start_redis()

    def double_messages(self, chance: random.Random) -> None:
        import redis

        with contextlib.suppress(redis.RedisError):
            client = self._client()
            waiting = client.lrange("celery", 0, -1) or [
                json.dumps(json.loads(m)[0]).encode() for m in client.hvals("unacked")]
            chance.shuffle(waiting)
            for message in waiting:
                client.lpush("celery", message)

    def disturb_database(self, chance: random.Random) -> None:
        with self.database_lock:
            self._postgres("pg_ctl", "-D", self.data, "-l", self.data / "log", "-m", "immediate",
                           "-w", "restart")

    def stop(self) -> None:
        super().stop()
        self.redis.kill()
        self.redis.wait()
        self._postgres("pg_ctl", "-D", self.data, "-m", "immediate", "stop")


DESKS = {"embedded": EmbeddedDesk, "server": ServerDesk}
