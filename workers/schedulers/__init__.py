"""Who starts a node's jobs: the desk itself, or a cluster's scheduler. One small interface.

A kind of cluster is one row here: the class that speaks to it, and the options it takes.
"""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from workers.models import Node, SchedulerKind
from workers.models.node import LONGEST_SCHEDULER, REGISTERED_SCHEDULERS
from workers.nodes.ssh import Unreachable
from workers.schedulers import options, slurm_options
from workers.schedulers.base import Scheduler
from workers.schedulers.modelarts import modelarts_options
from workers.schedulers.modelarts.training_jobs import TrainingJobs
from workers.schedulers.options import Option
from workers.schedulers.own_queue import OwnQueue
from workers.schedulers.pods import pod_options
from workers.schedulers.pods.kubernetes_jobs import KubernetesJobs
from workers.schedulers.pods.volcano_jobs import VolcanoJobs
from workers.schedulers.slurm import Slurm


@dataclass(frozen=True)
class ClusterKind:
    """One kind of cluster, or the desk's own queue.

    Args:
        group: title of the group of a node's form that holds its options.
    """

    scheduler: type[Scheduler]
    options: tuple[Option, ...] = ()
    group: Promise | str = ""


_PODS = gettext_lazy("Cluster: Kubernetes and Volcano")
KINDS: dict[str, ClusterKind] = {
    SchedulerKind.OWN: ClusterKind(OwnQueue),
    SchedulerKind.SLURM: ClusterKind(
        Slurm, slurm_options.OPTIONS, gettext_lazy("Cluster: Slurm")),
    SchedulerKind.KUBERNETES: ClusterKind(KubernetesJobs, pod_options.OPTIONS, _PODS),
    SchedulerKind.VOLCANO: ClusterKind(VolcanoJobs, pod_options.VOLCANO_OPTIONS, _PODS),
    SchedulerKind.MODELARTS: ClusterKind(
        TrainingJobs, modelarts_options.OPTIONS, gettext_lazy("Cluster: ModelArts")),
}


def register(code: str, title: Promise | str, kind: ClusterKind) -> None:
    """Add a kind of cluster. Raises ValueError for a code that is taken or too long for its
    column, and for a scheduler that leaves a part of its interface out."""
    left_out = sorted(kind.scheduler.__abstractmethods__)
    if code in KINDS or not 0 < len(code) <= LONGEST_SCHEDULER or left_out:
        raise ValueError(f"scheduler {code!r} is taken, too long, or lacks {left_out}")
    KINDS[code] = kind
    REGISTERED_SCHEDULERS[code] = title


def of(node: Node) -> Scheduler:
    """The scheduler of the node's jobs. Raises Unreachable where its plug-in is gone."""
    if node.scheduler not in KINDS:
        raise Unreachable(f"The scheduler {node.scheduler} is not installed.")
    return KINDS[node.scheduler].scheduler(node)


def cleaned_options(node: Node) -> dict:
    """The node's options as its scheduler takes them; none for the desk's own queue.

    Raises InvalidInput naming the option that cannot be used, or what else the kind lacks.
    """
    kind = KINDS[node.scheduler]
    if not node.scheduler:
        return {}
    found = options.cleaned(kind.options, node.scheduler_options)
    kind.scheduler(node).require_usable(found)
    return found


def shown_options(node: Node) -> list[tuple[str, str]]:
    """Label and value of the options that are set, for a page."""
    return [(str(option.label), option.shown(node.scheduler_options[option.name]))
            for option in KINDS[node.scheduler].options if option.name in node.scheduler_options]


__all__ = ["KINDS", "ClusterKind", "Scheduler", "cleaned_options", "of", "register",
           "shown_options"]
