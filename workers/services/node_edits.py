"""Writes to a node that is enrolled: its facts, its address, a trial of its log-in."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from engagements.text.text_joining import following
from workers import schedulers
from workers.dispatch.sentences import REFUSALS
from workers.models import Job, Node, NodeLogin
from workers.models.job import OPEN_STATES, WAITING_STATES
from workers.nodes import error_sentences, machines, reachability, ssh
from workers.remote import trial
from workers.runtimes import offers
from workers.services import node_logins, nodes

ADDRESS = ("host", "port", "bastion_host", "bastion_port", "bastion_host_key", "jump_hosts")
HOME = ("username", "scratch_dir")
SECRET = ("private_key", "passphrase")
SCHEDULER = ("scheduler", "scheduler_options", "scheduler_secret")
EDITABLE = (*ADDRESS, *HOME, *SECRET, "name", "labels", "cards_total", "temperature_limit",
            "ring_size", "keep_days", "disk_warning_mb", "disk_stop_mb", "set_env",
            "container_engine", "container_options", "command_roles", "file_roots",
            "transfer_mbit", "bastion_username", "certificate", "cluster_address",
            "cluster_interface", *SCHEDULER)


def edit_node(*, actor: User, node: Node, **fields) -> Node:
    """Change a node's facts. Another address leads back to the confirmation of its host key.

    Args:
        fields: any of EDITABLE; a `private_key` of "" gives the log-in to the worker's SSH agent.
    Raises InvalidInput where the new address does not answer, the key cannot be used, or jobs are
    on the machine that would be left; WrongState where jobs run in the folder that would be left.
    """
    require(actor, Can.OPERATE)
    changes = {name: value for name, value in fields.items()
               if name in EDITABLE and getattr(node, name) != value}
    edited = _edited(node, changes)
    offered = _newly_offered(node, edited) if changes.keys() & set(ADDRESS) else ""
    if changes.keys() & set(SECRET) and node.host_key and not offered:
        _try_key(edited)
    with transaction.atomic():
        locked = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
        if changes.keys() & set(HOME):
            _require_nothing_runs(locked)
        if "scheduler" in changes:
            _require_nothing_handed_over(locked)
        columns = {**changes, **({"offered_host_key": offered, "state": Node.State.PENDING}
                                 if offered else {})}
        for name, value in columns.items():
            setattr(locked, name, value)
        if columns:
            locked.save(update_fields=list(columns))
            audit_log.record(actor=actor, action="node.edit", target=locked, data=_audited(changes,
                                                                                           offered))
    return locked


def _try_key(edited: Node) -> None:
    """The old key is dropped once the new one has opened the node."""
    try:
        ssh.shell_seconds(edited)
    except ssh.NodeError as error:
        raise InvalidInput(following(_("The new key does not open the node; the old one stays."),
                                     error_sentences.sentence(edited, error))) from error


def _edited(node: Node, changes: dict) -> Node:
    """The node as it would be, checked but not saved."""
    edited = Node.objects.get(pk=node.pk)
    for name, value in changes.items():
        setattr(edited, name, value)
    edited.full_clean(exclude=["host_key", "offered_host_key"])
    if changes.keys() & {*SECRET, "certificate"}:
        node_logins.require_usable_key(edited.private_key, edited.passphrase, edited.certificate)
    nodes.require_bastion_key(edited)
    if changes.keys() & set(SCHEDULER):
        changes["scheduler_options"] = schedulers.cleaned_options(edited)
    return edited


def _newly_offered(node: Node, edited: Node) -> str:
    """The key that the new address shows. Jobs in flight are on the machine with the old one."""
    offered = nodes.offered_host_key(edited)
    nodes.require_new_host_key(edited, offered)
    jobs = _in_flight(node).count()
    if jobs and offered.split()[:2] != node.host_key.split()[:2]:
        raise InvalidInput(_(
            "The new address shows another host key, so it is another machine, and %(n)d jobs "
            "are still on the old one. Let them end or cancel them, or enrol the new machine as "
            "a node of its own.") % {"n": jobs})
    return offered


def _in_flight(node: Node):
    return Job.objects.filter(node=node, state__in=OPEN_STATES).exclude(state__in=WAITING_STATES)


def _require_nothing_runs(node: Node) -> None:
    if jobs := _in_flight(node).filter(login=None).count():
        raise WrongState(_(
            "%(n)d jobs have their folders where the present user and scratch folder put them; "
            "change these once they have ended.") % {"n": jobs})


def _require_nothing_handed_over(node: Node) -> None:
    if jobs := _in_flight(node).count():
        raise WrongState(ngettext(
            "%(n)d job is with the present scheduler; change it once it has ended.",
            "%(n)d jobs are with the present scheduler; change it once they have ended.", jobs)
            % {"n": jobs})


def _audited(changes: dict, offered: str) -> dict:
    """The audit's facts: what changed, without anything secret."""
    secret = (*SECRET, "scheduler_secret")
    shown = {name: "replaced" if name in secret else value for name, value in changes.items()}
    return {**shown, **({"fingerprint": ssh.fingerprint(offered)} if offered else {})}


def folders_left_behind(node: Node) -> int:
    """Ended jobs whose folders lie with the node's present user, in its present scratch folder."""
    return Job.objects.filter(node=node, login=None, folder_removed_at=None,
                              finished_at__isnull=False, started_at__isnull=False).count()


def try_login(*, actor: User, access: Node | NodeLogin) -> float:
    """Log in and try what jobs need. Returns the seconds until the log-in shell runs a command.

    Writes what was found at the node, or at the engagement's log-in. An untried node that passes is
    ready, through whichever log-in: some let in nobody else. Raises InvalidInput with the sentence
    for what went wrong.
    """
    require(actor, Can.OPERATE, access.engagement if isinstance(access, NodeLogin) else None)
    node = access.node if isinstance(access, NodeLogin) else access
    if not node.host_key:
        raise WrongState(_("Confirm the host key of the node first."))
    try:
        seconds = ssh.shell_seconds(access)
        identity = machines.identity_of(access)
        found = trial.tried(access)
        read_cluster(access, node)
        offers.read_offers(access, node)
    except ssh.NodeError as error:
        reachability.missed(access, str(error), reachability.trouble_of(error))
        if isinstance(error, ssh.HostKeyChanged):
            reachability.quarantine(node)
        raise InvalidInput(error_sentences.sentence(access, error)) from error
    reachability.seen(node)
    if isinstance(access, NodeLogin):
        NodeLogin.objects.filter(pk=access.pk).update(refused_at=None, refused_cause="")
    if access == node or node.state == Node.State.UNTRIED:
        Node.objects.filter(pk=node.pk).update(shell_seconds=seconds)
        nodes.keep_trial(actor, node, found)
    _keep_identity(actor, node, identity)
    if found.refused:
        raise InvalidInput(gettext(REFUSALS.get(found.refused, found.refused)))
    _let_in(actor, node)
    return seconds


@transaction.atomic
def _let_in(actor: User, node: Node) -> None:
    if Node.objects.filter(pk=node.pk, state=Node.State.UNTRIED).update(state=Node.State.READY):
        node.state = Node.State.READY
        audit_log.record(actor=actor, action="node.try", target=node)


def _keep_identity(actor: User, node: Node, identity: machines.Identity) -> None:
    """A node that turns out to be the machine of another goes into maintenance.

    Raises InvalidInput for it.
    """
    Node.objects.filter(pk=node.pk).update(machine_id=identity.machine_id,
                                           boot_id=identity.boot_id)
    try:
        nodes.require_own_machine(node, identity)
    except InvalidInput:
        if node.state == Node.State.READY:
            nodes.set_maintenance(actor=actor, node=node, is_on=True)
        raise


def read_cluster(access: Node | NodeLogin, node: Node) -> None:
    """Ask the scheduler of a cluster and keep what it says; nothing for a plain node.

    Raises what `workers.nodes.ssh.run` raises, SchedulerAway where the scheduler does not answer.
    """
    if node.scheduler:
        facts = schedulers.of(node).probed(access)
        node.scheduler_facts = {**facts, "read_at": timezone.now().isoformat()}
        Node.objects.filter(pk=node.pk).update(scheduler_facts=node.scheduler_facts)
