"""What dispatch says with a count.

Loaded when Django starts, without the SSH library that the modules bring which say it: every
process that shows a job needs the singulars.
"""

from django.utils.translation import gettext_noop

from engagements.text.nested_sentences import ngettext_noop
from workers.models import JobState

RESERVED = ngettext_noop(
    "Waiting: %(cards)d card of the node is reserved for another engagement from %(start)s "
    "to %(end)s, and the job would need some of them.",
    "Waiting: %(cards)d cards of the node are reserved for another engagement from "
    "%(start)s to %(end)s, and the job would need some of them.", "cards")
NEVER_IN_QUOTA = ngettext_noop(
    "Waiting: the job wants %(n)d card, but the engagement may hold only %(quota)d at once. "
    "Ask an operator for a larger quota, or cancel the job.",
    "Waiting: the job wants %(n)d cards, but the engagement may hold only %(quota)d at "
    "once. Ask an operator for a larger quota, or cancel the job.", "n")
STILL_THERE = ngettext_noop(
    "%(n)d process of it survives SIGKILL: %(which)s. An administrator has to end it on the "
    "node; its cards stay leased until it is gone.",
    "%(n)d processes of it survive SIGKILL: %(which)s. An administrator has to end "
    "them on the node; its cards stay leased until they are gone.", "n")
# By final state: nothing is found any more; processes survive; processes are on its cards.
STOPPED_SENTENCES = {
    JobState.CANCELLED: (
        gettext_noop("Cancelled; nothing of it runs any more."),
        ngettext_noop(
            "Cancelled, but %(n)d process of it survives SIGKILL: %(which)s. An administrator has "
            "to end it on the node.",
            "Cancelled, but %(n)d processes of it survive SIGKILL: %(which)s. An administrator "
            "has to end them on the node.", "n"),
        ngettext_noop(
            "Cancelled; nothing that it started is found any more, but npu-smi still shows %(n)d "
            "process on its cards: %(which)s.",
            "Cancelled; nothing that it started is found any more, but npu-smi still shows "
            "%(n)d processes on its cards: %(which)s.", "n")),
    JobState.TIMED_OUT: (
        gettext_noop("Stopped after its time limit of %(seconds)d s."),
        ngettext_noop(
            "Stopped after its time limit of %(seconds)d s, but %(n)d process of it survives "
            "SIGKILL: %(which)s. An administrator has to end it on the node.",
            "Stopped after its time limit of %(seconds)d s, but %(n)d processes of it survive "
            "SIGKILL: %(which)s. An administrator has to end them on the node.", "n"),
        ngettext_noop(
            "Stopped after its time limit of %(seconds)d s; nothing that it started is found any "
            "more, but npu-smi still shows %(n)d process on its cards: %(which)s.",
            "Stopped after its time limit of %(seconds)d s; nothing that it started is found "
            "any more, but npu-smi still shows %(n)d processes on its cards: %(which)s.", "n")),
}
FAILED_FIRST = ngettext_noop(
    "Node %(rank)d (%(node)s) failed first, after %(restarts)d restart: %(why)s",
    "Node %(rank)d (%(node)s) failed first, after %(restarts)d restarts: %(why)s", "restarts")
TOO_FEW_ON_A_NODE = ngettext_noop(
    "Waiting: it wants %(n)d card of each node, and %(node)s has only %(usable)d healthy "
    "ones.",
    "Waiting: it wants %(n)d cards of each node, and %(node)s has only %(usable)d "
    "healthy ones.", "n")
TOO_FEW_CARDS = ngettext_noop(
    "Waiting: it wants %(n)d card, and the node has only %(usable)d healthy ones.",
    "Waiting: it wants %(n)d cards, and the node has only %(usable)d healthy ones.", "n")
IN_LINE = ngettext_noop(
    "Waiting for a free card; place %(place)d in the node's line.",
    "Waiting for %(n)d free cards, of which %(free)d are free; place %(place)d in the "
    "node's line.", "n")
