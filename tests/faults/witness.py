"""Compares what the desk says of jobs and nodes with what the nodes' process tables held then."""

import contextlib
import threading
from pathlib import Path

from django.db import Error as DatabaseFault
from django.db import connection
from django.utils import timezone

BETWEEN_LOOKS = 0.4
SHELL = (b"sh", b"/bin/sh", b"bash", b"/bin/bash", b"dash", b"/bin/dash")
# No fault of the suite is one of these: none may be said.
NEVER_TRUE = ("login", "key", "shell", "algo", "channel")
BOOT = {"The node restarted while the job ran: it shows another boot id.": True,
        "The command was killed together with the shell that watched it: it ended without an "
        "exit status. The node did not restart.": False}
VANISHED = "The job's folder on the node has vanished, and nothing of it runs."


class Witness:
    """Looks at the nodes and at the desk's rows, over and over, until it is asked what was false.

    Args:
        trial: the run; its `nodes` stand in the order of its `rows`, `keys` names each job's
            script.
        is_watching: look in the background; else only when it is asked.
    """

    def __init__(self, trial, *, is_watching: bool = True) -> None:
        self.trial = trial
        self.false: list[str] = []
        self.ended: set[int] = set()
        self.seen: set[str] = set()  # scripts that ran at a look
        self.compared = 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        if is_watching:
            self.thread.start()

    def stop(self) -> list[str]:
        """What was said and was not so, from the first look to this one."""
        self.is_over.set()
        if self.thread.is_alive():
            self.thread.join()
        self._look()
        return [*self.false, *self._absences()]

    def _watch(self) -> None:
        while not self.is_over.wait(BETWEEN_LOOKS):
            try:
                self._look()
            except DatabaseFault:  # it is away now and then
                connection.close()
        connection.close()

    def _look(self) -> None:
        """The process tables before the rows and again after them: what runs before a row says
        that it waits ran too early, what runs after a row says that it ended ended too late."""
        from workers.models import Job, JobState

        before = self._running()
        self.seen |= set(before)
        rows = list(Job.objects.exclude(pk__in=self.ended).select_related("node"))
        for job in rows:
            key = self.trial.keys.get(job.pk)
            if key is None:
                continue
            if job.state == JobState.QUEUED:
                self._compare(not before.get(key), job, before.get(key))
            elif job.is_final:
                self.ended.add(job.pk)
                self._ended(job, key)

    def _ended(self, job, key: str) -> None:
        """A final sentence: nothing runs unless it names what does; a restart was one."""
        if not job.results.get("still_running"):
            found = self._running().get(key)
            self._compare(not found, job, found)
        node = self.trial.nodes[self.trial.rows.index(job.node)]
        if (is_restart := BOOT.get(job.message)) is not None:
            boots = [at for at in node.boots[1:]
                     if job.started_at.timestamp() - 1 <= at <= job.finished_at.timestamp()]
            self._compare(bool(boots) == is_restart, job, boots)
        if job.message == VANISHED:
            self._compare(not (node.root / "jobs" / job.directory_name).exists(), job, "it exists")

    def _compare(self, is_true: bool, job, found) -> None:
        self.compared += 1
        if not is_true:
            self.false.append(f"{timezone.now():%H:%M:%S} {job} ({job.state}): “{job.sentence}”, "
                              f"but {found}")

    def _running(self) -> dict[str, list[int]]:
        """The processes of each job's command on all nodes, by the name of its script."""
        found: dict[str, list[int]] = {}
        for node in self.trial.nodes:
            for process in node.processes():
                with contextlib.suppress(OSError):
                    words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
                    if len(words) == 3 and words[0] in SHELL and words[1].endswith(b".sh"):
                        found.setdefault(Path(words[1].decode()).stem, []).append(process)
        return found

    def _absences(self) -> list[str]:
        """Why nodes were said to be away: only what the suite does to them."""
        from workers.models import NodeContact

        contacts = NodeContact.objects.filter(is_reachable=False)
        self.compared += contacts.count()
        return [f"{contact.node}: {contact.trouble} ({contact.cause}), but nothing of the kind was "
                "done" for contact in contacts.filter(trouble__in=NEVER_TRUE)]
