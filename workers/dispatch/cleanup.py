"""What jobs leave behind, on nodes and here: removed once everything of it is proven stored."""

import logging
from datetime import timedelta

from django.core.files.storage import FileSystemStorage, default_storage
from django.db.models import F
from django.utils import timezone

from workers.artifacts import arriving_files, content_store
from workers.artifacts.artifact_store import is_intact
from workers.dispatch import disks
from workers.logs import live_log
from workers.models import Artifact, JobLog, Node
from workers.models.job import FINAL_STATES
from workers.nodes import ssh
from workers.nodes.cards import samples
from workers.nodes.cards.readings import keep_cards
from workers.remote import folders, trial

log = logging.getLogger(__name__)
AT_ONCE = 50
STILL_WATCHED = timedelta(minutes=10)


def keep_house() -> int:
    """Look after the scratch folder of every ready node. Returns how many folders went."""
    content_store.remove_forgotten(default_storage)
    remove_live_logs()
    arriving_files.remove_forgotten(timezone.now())
    samples.thin(timezone.now())
    disks.forget(timezone.now())
    removed = 0
    for node in Node.objects.filter(state=Node.State.READY, unreachable_since=None):
        try:
            removed += _remove_old_folders(node)
            if node.card_alarms.filter(cleared_at=None, card_index__isnull=False).exists():
                # An alarm ends by a look; looks beside jobs miss such a card, which gets none.
                keep_cards(node, trial.tried(node).chips)
            _forget_inputs(node)
            disks.measure(node)
            Node.objects.filter(pk=node.pk).update(shell_seconds=ssh.shell_seconds(node))
        except ssh.NodeError as error:
            log.warning("%s: housekeeping was put off: %s", node, error)
    return removed


def look_at_full_disks() -> None:
    """Between two times of housekeeping: a disk that has room again gets jobs at once."""
    for node in Node.objects.filter(state=Node.State.READY, unreachable_since=None).exclude(
            scratch_free_mb=None).defer("offers"):
        if node.is_full:
            try:
                disks.measure(node)
            except ssh.NodeError as error:
                log.warning("%s: its full disk was not looked at: %s", node, error)


def remove_live_logs() -> int:
    """Remove the growing copies of logs that are stored whole; returns how many went.

    Beside a storage elsewhere they stay: a part of a log is read from them at once.
    """
    if not isinstance(default_storage, FileSystemStorage):
        return 0
    found = sorted(live_log.folder().glob("*.log"), key=lambda file: int(file.stem))
    grown = {int(file.stem): file for file in found[:10 * AT_ONCE]}
    stored = Artifact.objects.filter(
        name=live_log.LOG_NAME, job__in=list(grown), job__state__in=FINAL_STATES,
        job__finished_at__lt=timezone.now() - STILL_WATCHED, size=F("job__log_stored"))
    removed = 0
    for artifact in stored[:AT_ONCE]:
        if is_intact(artifact):
            grown[artifact.job_id].unlink(missing_ok=True)
            removed += 1
    return removed + _remove_further_logs()


def _remove_further_logs() -> int:
    """The same for further logs, one by one: there are few."""
    removed = 0
    grown = sorted((live_log.folder() / "extra").glob("*.log"))[:AT_ONCE]
    before = timezone.now() - STILL_WATCHED
    for log in JobLog.objects.filter(pk__in=[int(file.stem) for file in grown],
                                     job__finished_at__lt=before).select_related("job"):
        stored = log.artifacts.filter(name=log.artifact_name, size=log.log_stored).first()
        if stored and is_intact(stored):
            live_log.path(log).unlink(missing_ok=True)
            removed += 1
    return removed


def _remove_old_folders(node: Node) -> int:
    """A folder stays while one of its stored files is missing or damaged."""
    removed = 0
    for job in disks.Rule(node.keep_days).jobs(node)[:disks.AT_ONCE]:
        if not disks.why_kept(job):
            disks.remove_folder(job)
            removed += 1
    return removed


def _forget_inputs(node: Node) -> None:
    """Kept inputs that no job has asked for as long as folders of jobs are kept."""
    script = folders.forget_script(node.scratch_dir, node.keep_days)
    for login in node.logins.in_use():
        login.node = node
        ssh.run(login, script, 600)
    ssh.run(node, script, 600)
