"""Nodes from an inventory: upload, preview, creation of all or none, and the first look at each."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import BinaryIO

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import DeskError, InvalidInput, WrongState
from engagements.models import User
from engagements.queue import enqueue, enqueue_on_commit
from workers.models import ImportedNode, Node, NodeImport
from workers.nodes import error_sentences, ssh
from workers.nodes.inventory.files import read_inventory
from workers.nodes.inventory.node_rows import NodeRow, NodeTable, node_table
from workers.services import node_edits, node_logins, nodes
from workers.services.jobs import queue_job
from workers.uploaded_table import Entry

LOOK = "workers.look_at_imported"
TRIED_AT_ONCE = 16
LONGEST_LOOK = timedelta(minutes=2)
FIRST_CHECKS = ("env.npu_info", "env.host_probe", "env.software")
State = ImportedNode.State


def start_import(*, actor: User, upload: BinaryIO, file_name: str, username: str = "",
                 ) -> NodeImport:
    """Read an inventory; no node exists yet. Passwords and keys in it are not stored.

    Args:
        username: of rows that name no user.
    Raises InvalidInput for a file that cannot be read (`read_inventory`).
    """
    require(actor, Can.OPERATE)
    file = read_inventory(upload, file_name)
    with transaction.atomic():
        source = NodeImport.objects.create(
            file_name=file_name[-160:], sha256=file.sha256, format=file.format, username=username,
            entries=[[entry.place, entry.values] for entry in file.entries],
            secrets=file.secrets[:20], created_by=actor)
        audit_log.record(actor=actor, action="node_import.start", target=source,
                         data={"file": source.file_name, "sha256": source.sha256})
    return source


def table_of(source: NodeImport) -> NodeTable:
    """What the import would make, checked against the nodes as they are now."""
    entries = [Entry(place, values) for place, values in source.entries]
    return node_table(entries, source.username)


def try_rows(source: NodeImport) -> list[dict]:
    """Ask each row's address for its host key; nothing is stored. `place`, `fingerprint`, and
    `refusal`, empty where the row can be enrolled."""
    rows = table_of(source).rows
    fetchers = [Node(**row.fields) for row in rows]
    with ThreadPoolExecutor(TRIED_AT_ONCE) as pool:
        offered = list(pool.map(_offered, fetchers))
    return [{"place": row.place, "fingerprint": "",
             "refusal": error_sentences.sentence(node, found)}
            if isinstance(found, ssh.NodeError) else
            {"place": row.place, "fingerprint": ssh.fingerprint(found),
             "refusal": _refusal(row, node, found)}
            for row, node, found in zip(rows, fetchers, offered, strict=True)]


def _offered(node: Node) -> str | ssh.NodeError:
    try:
        return ssh.fetch_host_key(node)
    except ssh.NodeError as error:
        return error


def _refusal(row: NodeRow, node: Node, offered: str) -> str:
    shown = ssh.fingerprint(offered)
    if row.fingerprint and row.fingerprint != shown:
        return _("The node offers %(shown)s, the file says %(given)s: find out which is right.") % {
            "shown": shown, "given": row.fingerprint}
    try:
        nodes.require_new_host_key(node, offered)
    except InvalidInput as error:
        return error.message
    return ""


@transaction.atomic
def apply_import(*, actor: User, source: NodeImport, private_key: str = "", passphrase: str = "",
                 is_practice: bool = False) -> NodeImport:
    """Create the nodes, all or none, and ask workers to look at each.

    Args:
        private_key: of all of them; without one the worker's SSH agent is asked.
    Raises InvalidInput while a row has a fault, WrongState for an import that was applied.
    """
    require(actor, Can.OPERATE)
    node_logins.require_usable_key(private_key, passphrase)
    source = _open(source)
    table = table_of(source)
    if table.faults:
        first = table.faults[0]
        raise InvalidInput(_("%(n)d faults; the first: %(place)s, %(column)s: %(what)s") % {
            "n": len(table.faults), "place": first.place, "column": first.column,
            "what": first.sentence})
    for row in table.rows:
        try:
            node_logins.require_usable_key(private_key, passphrase,
                                           row.fields.get("certificate", ""))
        except InvalidInput as error:
            raise InvalidInput(f"{row.place}: {error.message}") from error
    for row in table.rows:
        node = Node.objects.create(private_key=private_key, passphrase=passphrase,
                                   is_practice=is_practice, **row.fields)
        audit_log.record(actor=actor, action="node.enrol", target=node, data={
            "host": node.host, "port": node.port, "import": source.pk})
        look = ImportedNode.objects.create(
            source=source, node=node, place=row.place[:60], fingerprint=row.fingerprint,
            accepted_by=actor if row.fingerprint else None)
        enqueue_on_commit(LOOK, look.pk)
    source.applied_at = timezone.now()
    source.save(update_fields=["applied_at"])
    audit_log.record(actor=actor, action="node_import.apply", target=source,
                     data={"nodes": len(table.rows)})
    return source


def _open(source: NodeImport) -> NodeImport:
    source = NodeImport.objects.select_for_update(of=("self",), no_key=True).get(pk=source.pk)
    if source.applied_at:
        raise WrongState(_("The nodes of this import exist already."))
    return source


@transaction.atomic
def discard_import(*, actor: User, source: NodeImport) -> None:
    """Drop an upload that became no nodes."""
    require(actor, Can.OPERATE)
    source = _open(source)
    NodeImport.objects.filter(pk=source.pk).delete()
    audit_log.record(actor=actor, action="node_import.discard", target=source)


@transaction.atomic
def look_again(*, actor: User, source: NodeImport) -> int:
    """Ask again every node of the import that was not reached. Returns how many."""
    require(actor, Can.OPERATE)
    failed = source.nodes.filter(state=State.FAILED)
    asked = [look.pk for look in failed]
    failed.update(state=State.WAITING, cause="")
    for pk in asked:
        enqueue_on_commit(LOOK, pk)
    audit_log.record(actor=actor, action="node_import.look", target=source, data={"n": len(asked)})
    return len(asked)


@transaction.atomic
def accept_fingerprints(*, actor: User, source: NodeImport, offers: dict[int, str]) -> int:
    """Say that these offered fingerprints were compared; workers then pin the keys and log in.

    Args:
        offers: {id of the imported node: the fingerprint as it was shown}.
    Raises InvalidInput where a node offers another by now. Returns how many were accepted.
    """
    require(actor, Can.OPERATE)
    waiting = source.nodes.filter(pk__in=offers, state=State.TO_CONFIRM).select_related("node")
    for look in waiting:
        shown = ssh.fingerprint(look.node.offered_host_key)
        if shown != offers[look.pk].strip():
            raise InvalidInput(_("%(node)s now offers a different fingerprint: compare it again.")
                               % {"node": look.node})
        look.fingerprint, look.accepted_by, look.state = shown, actor, State.WAITING
        look.save(update_fields=["fingerprint", "accepted_by", "state"])
        enqueue_on_commit(LOOK, look.pk)
    audit_log.record(actor=actor, action="node_import.accept", target=source,
                     data={"nodes": [look.node.name for look in waiting]})
    return len(waiting)


def look_at(look_id: int) -> None:
    """The next step of one imported node: fetch its host key, or pin the accepted one and log in.

    A node that is ready has its first checks queued. Calling twice is harmless.
    """
    now = timezone.now()
    if not _due(now).filter(pk=look_id).update(state=State.LOOKING, looked_at=now):
        return
    look = ImportedNode.objects.select_related("node", "accepted_by", "source__created_by").get(
        pk=look_id)
    try:
        look.state, look.cause = _looked(look), ""
    except DeskError as error:
        look.state, look.cause = State.FAILED, error.message[:400]
    look.save(update_fields=["state", "cause"])


def _due(now):
    """Those that wait, whose worker has been silent too long, or that were confirmed elsewhere."""
    return ImportedNode.objects.filter(
        Q(state=State.WAITING) | Q(state=State.LOOKING, looked_at__lt=now - LONGEST_LOOK)
        | (Q(state=State.TO_CONFIRM) & ~Q(node__host_key="")))


def _looked(look: ImportedNode) -> str:
    node = look.node
    if not node.host_key:
        if not node.offered_host_key:
            node = nodes.fetch_new_host_key(actor=look.source.created_by, node=node)
        if not look.accepted_by:
            return State.TO_CONFIRM
        shown = ssh.fingerprint(node.offered_host_key)
        if shown != look.fingerprint:
            raise InvalidInput(_("The node offers %(shown)s, the file says %(given)s: find out "
                                 "which is right, then fetch the key on the node's page.")
                               % {"shown": shown, "given": look.fingerprint})
        node = nodes.confirm_host_key(actor=look.accepted_by, node=node, fingerprint=shown)
    actor = look.accepted_by or look.source.created_by
    node_edits.try_login(actor=actor, access=node)
    for kind in FIRST_CHECKS:
        queue_job(actor=actor, kind=kind, node=node)
    return State.READY


def wake_looks() -> None:
    """Ask workers for looks whose message was lost; found in the database."""
    for pk in _due(timezone.now()).values_list("pk", flat=True)[:200]:
        enqueue(LOOK, pk)
