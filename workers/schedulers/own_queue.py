"""The desk's own queue: it leases cards and starts processes on the node itself."""

from workers.remote import replies, scripts, survivors
from workers.schedulers.base import Scheduler


class OwnQueue(Scheduler):
    leases_cards = True

    def visit_script(self, starting, polled, files_of=(), sample_seconds=0):
        return scripts.poll_script([request for _job, request in starting],
                                   replies.poll_requests(polled), files_of, sample_seconds)

    def read_states(self, output, jobs):
        return replies.read_states(output, jobs)

    def cancel_script(self, place, signal):
        return scripts.cancel_script(place, signal)

    def survivors_script(self, place, has_cards):
        return scripts.survivors_script(place, has_cards)

    def survivors(self, answer):
        return survivors.parse(answer)
