"""What dispatch says with a count.

Loaded when Django starts, without the SSH library that the modules bring which say it: every
process that shows a job needs the singulars.
"""

from django.utils.translation import gettext_noop

from engagements.text.nested_sentences import ngettext_noop
from workers.models import JobState

# Why a node starts nothing, by the words of `remote/start.sh`.
REFUSALS = {
    "no_setsid": gettext_noop("The node has no setsid command; install util-linux or busybox."),
    "not_writable": gettext_noop("The scratch folder of the node cannot be written."),
    "no_space": gettext_noop("The scratch folder of the node has less than 20 MB free."),
    "no_links": gettext_noop(
        "The scratch folder's file system has no hard links; choose a folder on a local disk."),
}
DISK_FULL = gettext_noop(
    "Waiting: the disk of the node is full (%(free)d MB free; below %(least)d MB no job starts). "
    "An operator makes room on the node's page “Disk”.")
HELD = gettext_noop("Waiting: an operator holds the job (%(reason)s).")
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
# In place of the first where nothing holds all that a job starts.
ATTRIBUTED = gettext_noop(
    "Cancelled; no process that can be attributed to it runs any more. What left the job's tree "
    "before it was first looked at could not be followed.")
TRACKED = gettext_noop(
    "Cancelled; Slurm shows nothing of it any more. Its process tracking (%(tracking)s) does not "
    "hold processes that left the job's tree.")
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
