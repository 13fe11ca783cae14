"""What operators do about a node's disk: look at it, and remove folders of ended jobs by a rule."""

from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.decisions import require_decider
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from workers.dispatch import disks
from workers.models import Job, Node
from workers.nodes import error_sentences, ssh


def measure_disk(*, actor: User, node: Node) -> Node:
    """One look at the scratch folder. Raises InvalidInput where the node does not answer."""
    require(actor, Can.OPERATE)
    _require_in_use(node)
    try:
        disks.measure(node)
    except ssh.NodeError as error:
        raise InvalidInput(error_sentences.sentence(node, error)) from error
    return node


def clean_up(*, actor: User, node: Node, rule: disks.Rule) -> list[Job]:
    """Remove what a dry run says would be removed, then measure. Returns the jobs.

    Raises InvalidInput where the node does not answer; what was removed before stays in the log.
    """
    require(actor, Can.OPERATE)
    require_decider(actor, "node.clean_up")
    _require_in_use(node)
    removed: list[Job] = []
    try:
        for row in disks.dry_run(node, rule, actor):
            if not row["why_kept"]:
                disks.remove_folder(row["job"])
                removed.append(row["job"])
        disks.measure(node)
    except ssh.NodeError as error:
        raise InvalidInput(error_sentences.sentence(node, error)) from error
    finally:
        _record(actor, node, rule, removed)
    return removed


@transaction.atomic
def _record(actor: User, node: Node, rule: disks.Rule, removed: list[Job]) -> None:
    audit_log.record(actor=actor, action="node.clean_up", target=node, data={
        "days": rule.days, "only_succeeded": rule.only_succeeded,
        "jobs": [job.pk for job in removed],
        "mb": round(sum(job.folder_kb or 0 for job in removed) / 1024)})


def _require_in_use(node: Node) -> None:
    if node.state in (Node.State.RETIRED, Node.State.PENDING, Node.State.QUARANTINED):
        raise WrongState(_("The node is “%(state)s”.") % {"state": node.get_state_display()})
