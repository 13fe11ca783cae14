"""Who starts a node's jobs: the desk itself, or a cluster's scheduler. One small interface."""

from workers.models import Node, SchedulerKind
from workers.schedulers import options
from workers.schedulers.base import Scheduler
from workers.schedulers.own_queue import OwnQueue
from workers.schedulers.slurm import Slurm

_KINDS: dict[str, type[Scheduler]] = {SchedulerKind.OWN: OwnQueue, SchedulerKind.SLURM: Slurm}


def of(node: Node) -> Scheduler:
    """The scheduler of the node's jobs."""
    return _KINDS[node.scheduler](node)


def cleaned_options(node: Node) -> dict:
    """The node's options as its scheduler takes them; none for the desk's own queue.

    Raises InvalidInput naming the option that cannot be used.
    """
    return options.cleaned(node.scheduler_options) if node.scheduler else {}


__all__ = ["Scheduler", "cleaned_options", "of"]
