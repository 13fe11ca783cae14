"""The desk's own queue: it leases cards and starts processes on the node itself."""

from workers.models import Job
from workers.nodes import ssh
from workers.remote import replies, scripts, survivors
from workers.schedulers.base import Scheduler


class OwnQueue(Scheduler):
    leases_cards = True

    def visit_script(self, starting, polled, files_of=(), sample_seconds=0):
        return scripts.poll_script([request for _job, request in starting],
                                   replies.poll_requests(polled), files_of, sample_seconds)

    def read_states(self, output, jobs):
        return replies.read_states(output, jobs)

    def signal(self, job, signal):
        return _survivors(job, scripts.cancel_script(replies.place(job), signal))

    def survivors(self, job):
        return _survivors(job, scripts.survivors_script(replies.place(job), bool(job.cards_wanted)))


def _survivors(job: Job, script: str) -> survivors.Survivors:
    return survivors.parse(ssh.run(job.access, script))
