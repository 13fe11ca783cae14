"""What a cluster says of itself: its scheduler's version, its partitions and their cards."""

from django.utils import timezone

from workers import schedulers
from workers.models import Node, NodeLogin


def read_cluster(access: Node | NodeLogin, node: Node) -> None:
    """Ask the scheduler of a cluster and keep what it says; nothing for a plain node.

    Raises what `workers.nodes.ssh.run` raises, SchedulerAway where the scheduler does not answer.
    """
    if node.scheduler:
        facts = schedulers.of(node).probed(access)
        node.scheduler_facts = {**facts, "read_at": timezone.now().isoformat()}
        Node.objects.filter(pk=node.pk).update(scheduler_facts=node.scheduler_facts)
