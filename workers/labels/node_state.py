"""What a node's row means, in sentences for people."""

from datetime import datetime

from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from workers.models import Node, Trouble

SLOW_SHELL = 1.0  # seconds; every start, poll and transfer waits for it


def state_sentences(node: Node, now: datetime) -> list[tuple[str, str]]:
    """(severity of an alert, sentence) for what an operator should know about the node."""
    found = []
    if node.unreachable_since and node.trouble != Trouble.KEY:
        found.append(("warning", _trouble_sentence(node, now)))
    if node.state == Node.State.MAINTENANCE:
        found.append(("info", _("In maintenance: jobs that run go on, none starts; what is queued "
                                "waits here until the maintenance ends.")))
    if node.cards_total and not node.has_read_cards and not node.scheduler:
        found.append(("warning", _("The number of cards (%(n)d) was typed in by hand; no reading "
                                   "of npu-smi has shown them. “Read chips and host” does.")
                      % {"n": node.cards_total}))
    if node.shell_seconds is not None and node.shell_seconds >= SLOW_SHELL:
        found.append(("warning", _(
            "The log-in shell of %(user)s takes %(seconds).1f s before it runs a command, and "
            "every step of a job waits for it. Look at what its start-up files do, such as "
            ".bashrc.") % {"user": node.username, "seconds": node.shell_seconds}))
    return found


def _trouble_sentence(node: Node, now: datetime) -> str:
    values = {"since": timesince(node.unreachable_since, now), "user": node.username}
    if node.trouble == Trouble.LOGIN:
        return _("For %(since)s the node has refused the log-in of %(user)s. Jobs there go on by "
                 "themselves; their state is unknown until the log-in works: check user and "
                 "key.") % values
    if node.trouble == Trouble.QUEUE:
        return _("For %(since)s the cluster's scheduler has not answered. Jobs that run go on by "
                 "themselves; their state is unknown until it answers.") % values
    if node.trouble == Trouble.SHELL:
        return _("For %(since)s the node has let us in without running our commands. Look at the "
                 "start-up files of %(user)s, such as .bashrc; jobs there go on by "
                 "themselves.") % values
    return _("The node has not answered for %(since)s. Jobs there go on by themselves; their state "
             "is unknown until it answers, and their cards stay leased.") % values
