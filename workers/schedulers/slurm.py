"""Slurm over SSH: sbatch, squeue, scontrol, scancel, and sacct where accounts are kept.

The commands and their fields are those of Slurm's manual pages (22.05 and later). The job's folder
lies on storage that log-in and compute nodes share: command, log and exit status are as anywhere.
"""

import shlex
from functools import cache
from pathlib import Path

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from workers.models import Job
from workers.nodes import ssh
from workers.remote import replies, scripts, survivors
from workers.remote.scripts import Place
from workers.schedulers import slurm_answers, slurm_sentences
from workers.schedulers.base import Scheduler

_HERE = Path(__file__).parent
PROBE_SECONDS = 90
SPARE_MINUTES = 5  # the desk ends a job at its limit; Slurm does where the desk is away


class Slurm(Scheduler):
    sentences = slurm_sentences

    def visit_script(self, starting, polled, files_of=(), sample_seconds=0):
        """No samples: the log-in node has no cards of the jobs."""
        place = starting[0][1][0] if starting else replies.place(polled[0])
        return (place.text() + self._path()
                + (self._starts(starting) if starting else "")
                + (_polls(polled, files_of) if polled else "") + "exit 0\n")

    def _path(self) -> str:
        folder = self.node.scheduler_options.get("programs")
        return f'PATH={shlex.quote(folder)}:"$PATH"; export PATH\n' if folder else ""

    def _starts(self, starting: list[tuple[Job, tuple[Place, str]]]) -> str:
        """All stands in a function: of a script that arrives cut short, nothing is run."""
        directories = " ".join(scripts.quote(place.directory) for _job, (place, _text) in starting)
        launches = [shlex.join(["launch", place.directory, text, *self._words(job)]) + "\n"
                    for job, (place, text) in starting]
        return (scripts.start_functions() + _read("start.sh") + _installed()
                + f"start_all() {{\nprepare {directories}\n" + "".join(launches)
                + 'for directory in $launched; do tell "$directory"; done\n}\nstart_all\n')

    def _words(self, job: Job) -> list[str]:
        """Name of the cards, empty for a job without; then the words for sbatch."""
        options = self.node.scheduler_options
        gres = options.get("gres", "npu") if job.cards_wanted else ""
        named = [f"--{name}={options[name]}" for name in ("partition", "account", "qos")
                 if options.get(name)]
        minutes = self._minutes(job.timeout_seconds)
        return [gres, *named, *shlex.split(options.get("words", "")),
                *([f"--gres={gres}:{job.cards_wanted}"] if gres else []),
                f"--nodes={options.get('nodes') or 1}", f"--time={minutes}"]

    def _minutes(self, seconds: int) -> int:
        return self.node.scheduler_options.get("minutes") or seconds // 60 + SPARE_MINUTES

    def require_limit(self, seconds):
        """By the limits that sinfo last told; Slurm itself lets such a job wait for ever."""
        name, minutes = self.node.scheduler_options.get("partition"), self._minutes(seconds)
        for row in (self.node.scheduler_facts or {}).get("partitions", []):
            if row["name"].rstrip("*") != name if name else not row["name"].endswith("*"):
                continue
            allowed = slurm_answers.limit_minutes(row["time_limit"])
            if allowed is not None and minutes > allowed:
                raise InvalidInput(_(
                    "The job asks for %(minutes)d minutes (its time limit and %(spare)d more, or "
                    "those of the node's options); partition “%(name)s” allows %(allowed)d, so it "
                    "would never start. Shorten the time limit, or name another partition.") % {
                        "minutes": minutes, "spare": SPARE_MINUTES, "allowed": allowed,
                        "name": row["name"].rstrip("*")})

    def read_states(self, output, jobs):
        # Logs, which may hold anything, come after the first line of a state.
        text = output.partition(b"desk desk-job-")[0].decode(errors="replace")
        slurm_answers.require_answer(text)
        reported = slurm_answers.parse(text)
        states, end = replies.read_states(output, jobs)
        names = {job.pk: job.directory_name for job in jobs}
        return {pk: slurm_answers.with_queue(state, reported[names[pk]])
                for pk, state in states.items()}, end

    def signal(self, job, signal):
        place = replies.place(job)
        return _survivors(job, self._found(place) + scripts.cancel_lines(signal))

    def survivors(self, job):
        return _survivors(job, self._found(replies.place(job)) + "members\ntell_survivors\n")

    def _found(self, place: Place) -> str:
        return (place.text() + self._path()
                + scripts.survivor_functions(place.in_container) + _read("stop.sh"))

    def probed(self, access):
        answer = ssh.run(access, self._path() + _read("probe.sh"), PROBE_SECONDS)
        return slurm_answers.cluster(answer.stdout.decode(errors="replace"))


def _survivors(job: Job, script: str) -> survivors.Survivors:
    answer = ssh.run(job.access, script)
    slurm_answers.require_answer(answer.stdout.decode(errors="replace"))
    return survivors.parse(answer)


def _polls(polled: list[Job], files_of) -> str:
    requests = replies.poll_requests(polled)
    names = ",".join(place.directory for place, _offset, _limit in requests)
    calls = [shlex.join(["look", place.directory, str(int(offset)), str(int(limit)),
                         "files" if place.directory in files_of else "none"]) + "\n"
             for place, offset, limit in requests]
    in_container = any(place.in_container for place, _offset, _limit in requests)
    return (scripts.poll_functions(in_container) + _read("queue.sh")
            + f"ask_queue {names} || exit 0\nask_records {names}\n" + "".join(calls)
            + "report_all\n")


@cache
def _installed() -> str:
    """The lines that name the texts that are installed on the node, after their content."""
    return "".join(scripts.named_after_content(name, _read(f"{name}.sh"))
                   for name in ("batch", "submit"))


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text()
