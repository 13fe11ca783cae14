"""Jobs on several nodes: what is asked of the nodes, and their members."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from engagements.models import Engagement
from workers.dispatch import gang_members
from workers.kinds import JobKind
from workers.models import Gang, Job, Node, NodeLogin
from workers.models.gang import MOST_RESTARTS
from workers.runtimes.chosen import Chosen

MOST_NODES = 64


def in_order(node: Node | None, nodes: Sequence[Node]) -> list[Node]:
    """The nodes in the order of their ranks; empty where one or none is asked for.

    Nodes of one rack (label `rack=…`) stand together, so that neighbouring ranks are near; racks
    stand in the order in which they were first named. Raises InvalidInput.
    """
    if not nodes:
        return []
    if node and node not in nodes:
        raise InvalidInput(_("Name either one node or several."))
    if len({each.pk for each in nodes}) < len(nodes):
        raise InvalidInput(_("A node is named twice."))
    if len(nodes) > MOST_NODES:
        raise InvalidInput(_("At most %(n)d nodes run one job.") % {"n": MOST_NODES})
    if len(nodes) < 2:
        return []
    if cluster := next((each for each in nodes if each.scheduler), None):
        raise InvalidInput(_(
            "%(node)s is a cluster, whose own scheduler chooses nodes: it cannot be one of several "
            "nodes of a job. Name it alone.") % {"node": cluster.name})
    racks = [rack_of(each) for each in nodes]
    return [each for _rack, each in sorted(zip(racks, nodes, strict=True),
                                           key=lambda pair: racks.index(pair[0]))]


def rack_of(node: Node) -> str:
    """The value of the node's label `rack=…`; empty without one."""
    words = [word.strip() for word in node.labels.split(",")]
    return next((word.removeprefix("rack=") for word in words if word.startswith("rack=")), "")


def with_node_count(declaration: JobKind, parameters: dict, nodes: list[Node], restarts: int
                    ) -> dict:
    """The parameters with the number of nodes, where the kind has one. Raises InvalidInput."""
    if not 0 <= restarts <= MOST_RESTARTS:
        raise InvalidInput(_("From 0 to %(n)d restarts are possible.") % {"n": MOST_RESTARTS})
    if not nodes:
        if restarts:
            raise InvalidInput(_("Restarts are for jobs on several nodes."))
        return parameters
    if not declaration.spans_nodes:
        raise InvalidInput(_("Jobs of this kind run on one node."))
    if "nodes" not in {parameter.name for parameter in declaration.parameters}:
        return parameters
    return {**parameters, "nodes": len(nodes)}


def add_members(job: Job, nodes: list[Node], restarts: int, engagement: Engagement | None,
                runtimes: list[Chosen]) -> Gang:
    """The rows behind a job on several nodes; the caller writes the audit entry, afterwards."""
    gang = Gang.objects.create(job=job, restarts_allowed=restarts)
    logins = {node.pk: NodeLogin.objects.of_new_jobs(node, engagement) for node in nodes}
    by_node = {node.pk: way.as_json() for node, way in zip(nodes, runtimes, strict=True)}
    gang_members.make(gang, nodes, job, logins, by_node, {})
    return gang


def order_of(job: Job) -> dict:
    """The arguments with which the job is queued again: its nodes and restarts."""
    if job.nodes_wanted == 1:
        return {}
    members = job.own_gang.present()
    return {"nodes": [member.node for member in members],
            "restarts": job.own_gang.restarts_allowed}
