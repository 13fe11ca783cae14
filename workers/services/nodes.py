"""Enrolling nodes, confirming their host keys, maintenance, retirement."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from workers import schedulers
from workers.models import Node
from workers.nodes import error_sentences, jump_hosts, machines, reachability, ssh
from workers.nodes.cards.readings import keep_cards
from workers.remote import trial
from workers.services import node_calendar, node_logins


def enrol_node(
    *, actor: User, name: str, host: str, username: str, private_key: str = "", port: int = 22,
    passphrase: str = "", **fields,
) -> Node:
    """First step: connect, and keep the offered host key for confirmation.

    Raises InvalidInput when the key cannot be used, the address does not answer, or it is the
    machine of another node.
    """
    require(actor, Can.OPERATE)
    node_logins.require_usable_key(private_key, passphrase, fields.get("certificate", ""))
    node = Node(name=name, host=host, port=port, username=username, private_key=private_key,
                passphrase=passphrase, **fields)
    node.full_clean(exclude=["host_key", "offered_host_key"])
    require_bastion_key(node)
    node.scheduler_options = schedulers.cleaned_options(node)
    node.offered_host_key = offered_host_key(node)
    require_new_host_key(node, node.offered_host_key)
    with transaction.atomic():
        node.save()
        audit_log.record(actor=actor, action="node.enrol", target=node,
                         data={"host": host, "port": port,
                               "fingerprint": ssh.fingerprint(node.offered_host_key)})
    return node


def require_new_host_key(node: Node, offered: str) -> None:
    """Raises InvalidInput where another node shows that host key: a machine is enrolled once."""
    if other := machines.with_host_key(node, offered):
        raise InvalidInput(_(
            "This address shows the host key of the node %(name)s, so it is the same machine, "
            "whose cards would be leased twice. Use that node; an engagement can have a log-in of "
            "its own there. If it is another machine, its disk was copied with the key: make new "
            "host keys on it first (ssh-keygen -A).") % {"name": other.name})


def require_own_machine(node: Node, identity: machines.Identity) -> None:
    """Raises InvalidInput where another node is the same machine at this moment."""
    if other := machines.twin_of(node, identity):
        raise InvalidInput(_(
            "This is the machine of the node %(name)s (same machine id, same boot): its cards "
            "would be leased twice. Use that node; an engagement can have a log-in of its own "
            "there.")
            % {"name": other.name})


def require_bastion_key(node: Node) -> None:
    """The bastions' host keys are pinned as a person gave them; they must be readable."""
    if not node.bastion_host:
        if node.jump_hosts.strip():
            raise InvalidInput(_("Name the first jump host as the bastion; the others follow it."))
        return
    try:
        jump_hosts.chain_of(node.jump_hosts)
    except ValueError as error:
        raise InvalidInput(str(error)) from error
    try:
        ssh.fingerprint(node.bastion_host_key)
    except ValueError as error:
        raise InvalidInput(_("The bastion's host key cannot be read: %(why)s")
                           % {"why": error}) from error


def offered_host_key(node: Node) -> str:
    """The host key the address shows now. Raises InvalidInput when it does not answer."""
    try:
        return ssh.fetch_host_key(node)
    except ssh.NodeError as error:
        raise InvalidInput(error_sentences.sentence(node, error)) from error


def confirm_host_key(*, actor: User, node: Node, fingerprint: str) -> Node:
    """Second step: pin the key whose fingerprint a person has compared.

    Logs in once to learn which machine it is and to try what jobs need. A node that does not pass
    yet stays untried: no job starts there until its log-in was tried again.
    Raises InvalidInput when it is not the fingerprint that was offered, or the machine is that of
    another node.
    """
    require(actor, Can.OPERATE)
    _require_offered(Node.objects.get(pk=node.pk), fingerprint)
    offered = Node.objects.get(pk=node.pk)
    offered.host_key = offered.offered_host_key
    identity, found, error = machines.Identity(), None, None
    try:
        identity = machines.identity_of(offered)
        found = trial.tried(offered)
    except ssh.NodeError as refusal:
        error = refusal
    require_own_machine(node, identity)
    with transaction.atomic():
        node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
        _require_offered(node, fingerprint)
        node.host_key, node.offered_host_key = node.offered_host_key, ""
        node.state = Node.State.READY if found and not found.refused else Node.State.UNTRIED
        node.machine_id, node.boot_id = identity.machine_id, identity.boot_id
        node.save()
        audit_log.record(actor=actor, action="node.confirm", target=node,
                         data={"fingerprint": fingerprint})
    if found:
        keep_trial(actor, node, found)
    elif error:
        reachability.missed(node, str(error), reachability.trouble_of(error))
    return node


def keep_trial(actor: User, node: Node, found: trial.Trial) -> None:
    """What a trial showed of the node: its clock, its sessions, its cards."""
    changes = {"clock_offset_seconds": found.clock_offset_seconds,
               "sessions_at_once": found.sessions}
    if found.chips and not node.scheduler:
        keep_cards(node, found.chips)
        if node.cards_total is None:
            changes["cards_total"] = len(found.chips)
    with transaction.atomic():
        Node.objects.filter(pk=node.pk).update(**changes)
        if "cards_total" in changes:
            audit_log.record(actor=actor, action="node.edit", target=node,
                             data={"cards_total": changes["cards_total"]})
    for name, value in changes.items():
        setattr(node, name, value)


def _require_offered(node: Node, fingerprint: str) -> None:
    if not node.offered_host_key:
        raise WrongState(_("This node has no host key to confirm."))
    if fingerprint.strip() != ssh.fingerprint(node.offered_host_key):
        raise InvalidInput(_("The fingerprint is not the one the node offered."))


def fetch_new_host_key(*, actor: User, node: Node) -> Node:
    """Ask a quarantined node for its key again; it must be confirmed before use."""
    require(actor, Can.OPERATE)
    offered = offered_host_key(node)
    require_new_host_key(node, offered)
    with transaction.atomic():
        node.offered_host_key, node.state = offered, Node.State.PENDING
        node.save(update_fields=["offered_host_key", "state"])
        audit_log.record(actor=actor, action="node.refetch_key", target=node,
                         data={"fingerprint": ssh.fingerprint(offered)})
    return node


def retire_node(*, actor: User, node: Node) -> Node:
    """Take a node out of use for good: no job starts there, its history stays. Its keys are erased.

    Raises WrongState while a job is on its way there.
    """
    require(actor, Can.OPERATE)
    with transaction.atomic():
        node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
        if jobs := node.jobs.in_flight().count():
            raise WrongState(_("%(n)d jobs are on their way there; cancel them or let them end.")
                             % {"n": jobs})
        node.state, node.private_key, node.passphrase = Node.State.RETIRED, "", ""
        node.unreachable_since, node.trouble = None, ""
        node.save(update_fields=["state", "private_key", "passphrase", "unreachable_since",
                                 "trouble"])
        audit_log.record(actor=actor, action="node.retire", target=node)
    return node


@transaction.atomic
def delete_node(*, actor: User, node: Node) -> None:
    """Remove a node on which nothing ever ran, as one with a mistyped address.

    Raises WrongState for one with jobs or log-ins of engagements, which is retired instead.
    """
    require(actor, Can.OPERATE)
    node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
    if node.jobs.exists() or node.leases.exists() or node.logins.exists():
        raise WrongState(_("Jobs ran there or engagements have log-ins; it can be retired only."))
    Node.objects.filter(pk=node.pk).delete()
    audit_log.record(actor=actor, action="node.delete", target=node, data={"name": node.name})


def set_maintenance(*, actor: User, node: Node, is_on: bool, until: datetime | None = None,
                    reason: str = "", stops_jobs_at: datetime | None = None) -> Node:
    """Drain a node (running jobs go on, none starts), or take it back.

    Args:
        until: then it is a maintenance window of the calendar, which ends by itself. One without
            an end raises an alarm after MAINTENANCE_HOURS.
        stops_jobs_at: of such a window: jobs that still run then are ended.
    Raises InvalidInput for taking back a node that is the machine of another, and for a stop
    without an end.
    """
    require(actor, Can.OPERATE)
    if is_on and until:
        node_calendar.reserve(actor=actor, node=node, starts_at=timezone.now(), ends_at=until,
                              reason=reason, stops_jobs_at=stops_jobs_at,
                              is_over_reservations=True)  # it begins now: nobody is asked first
        return node
    if stops_jobs_at:
        raise InvalidInput(_("Give the end of the maintenance: running jobs are stopped within "
                             "it."))
    if not is_on:
        require_own_machine(node, machines.Identity(node.machine_id, node.boot_id))
    with transaction.atomic():
        node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
        expected = Node.State.READY if is_on else Node.State.MAINTENANCE
        if node.state != expected:
            raise WrongState(_("The node is “%(state)s”.") % {"state": node.get_state_display()})
        node.state = Node.State.MAINTENANCE if is_on else Node.State.READY
        node.maintenance_since = timezone.now() if is_on else None
        node.save(update_fields=["state", "maintenance_since"])
        audit_log.record(actor=actor, action="node.maintenance", target=node, data={"on": is_on})
    return node
