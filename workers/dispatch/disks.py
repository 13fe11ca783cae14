"""Disks of nodes: what is free and how long it lasts, what fills them, which folders may go."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import linear_regression

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.models import Engagement
from workers.artifacts.artifact_store import is_intact
from workers.dispatch.endings import desk_words
from workers.models import DiskSample, Job, JobState, Node, NodeLogin
from workers.models.job import FINAL_STATES
from workers.nodes import ssh
from workers.nodes.conditions import full_in
from workers.remote import replies, scripts

KEPT_FOR = timedelta(days=90)
LOOKED_BACK = timedelta(days=14)  # of the samples that a forecast rests on
LEAST_SAMPLES, LEAST_SPAN = 6, timedelta(hours=12)
FARTHEST = timedelta(days=365)  # nobody plans with a later day
AT_ONCE = 50  # folders: every stored file of theirs is read for its checksum
SECONDS = 300  # for one look


def measure(node: Node) -> None:
    """Look once at the scratch folder of each log-in, and keep what was seen.

    Raises what `workers.nodes.ssh.run` raises.
    """
    now, (used, free, sizes) = timezone.now(), _looked_at(node, node)
    for login in node.logins.in_use():
        login.node = node
        more, _free, found = _looked_at(login, node)
        used, sizes = used + more, sizes | found
    DiskSample.objects.create(node=node, at=now, used_mb=used, free_mb=free)
    node.scratch_used_mb, node.scratch_free_mb = used, free
    node.disk_full_at = full_at(node, now)
    node.save(update_fields=["scratch_used_mb", "scratch_free_mb", "disk_full_at"])
    jobs = list(node.jobs.filter(Q(folder_removed_at=None) | Q(folder_kb__gt=0)).only(
        "pk", "attempt", "token", "folder_kb"))
    changed = []
    for job in jobs:
        size = sizes.get(job.directory_name)
        if job.folder_kb != size:
            job.folder_kb = size
            changed.append(job)
    Job.objects.bulk_update(changed, ["folder_kb"], 500)


def _looked_at(access: Node | NodeLogin, node: Node) -> tuple[int, int, dict[str, int]]:
    """Megabytes used and free, and kilobytes by folder of a job."""
    answer = ssh.run(access, scripts.usage_script(node.scratch_dir), SECONDS)
    _usage, used, free = desk_words(answer)
    folders = (line.split() for line in answer.stdout.decode(errors="replace").splitlines()
               if line.startswith("desk folder "))
    return int(used), int(free), {words[2]: int(words[3]) for words in folders}


def forget(now: datetime) -> None:
    DiskSample.objects.filter(at__lt=now - KEPT_FOR).delete()


def full_at(node: Node, now: datetime) -> datetime | None:
    """When the line through the samples reaches the limit below which no job starts; None where
    they are too few or too young to say, the disk does not fill, or it takes more than a year."""
    slope, _intercept = _line(node, now) or (0, 0)
    if slope >= 0:
        return None
    left = timedelta(days=max(0, node.scratch_free_mb - node.disk_limits[1]) / -slope)
    return now + left if left < FARTHEST else None


def _line(node: Node, now: datetime) -> tuple[float, float] | None:
    """Megabytes of free space that come and go per day; None where nobody can say."""
    samples = DiskSample.objects.filter(node=node, at__gte=now - LOOKED_BACK).values_list(
        "at", "free_mb")
    days = [((at - now) / timedelta(days=1), free) for at, free in samples]
    if len(days) < LEAST_SAMPLES or days[-1][0] - days[0][0] < LEAST_SPAN / timedelta(days=1):
        return None
    return linear_regression(*zip(*days, strict=True))


def forecast_sentence(node: Node, now: datetime) -> str:
    """When the disk is full if it goes on as in the last days, or why nobody can say."""
    if node.is_full:
        return _("The disk is full.")
    if node.disk_full_at:
        return full_in(node.disk_full_at, now)
    if _line(node, now) is None:
        return _("When it is full is not known: there are too few samples yet.")
    return _("It does not fill at present, or takes more than a year.")


def contents(node: Node, user) -> list[dict]:
    """What job folders hold by engagement, most first, and last what is none of theirs."""
    rows = Job.objects.filter(node=node, folder_kb__gt=0).order_by().values_list(
        "engagement").annotate(kb=Sum("folder_kb"), n=Count("pk"))
    codes = dict(Engagement.objects.visible_to(user).filter(
        pk__in=[pk for pk, _kb, _n in rows if pk]).values_list("pk", "code"))
    merged: dict[str, dict] = {}
    for pk, size, jobs in rows:
        name = codes.get(pk) or (_("another project") if pk else _("no project"))
        row = merged.setdefault(name, {"name": name, "code": codes.get(pk, ""), "mb": 0, "jobs": 0})
        row["mb"] += size / 1024
        row["jobs"] += jobs
    found = sorted(merged.values(), key=lambda row: -row["mb"])
    rest = (node.scratch_used_mb or 0) - sum(row["mb"] for row in found)
    if node.scratch_used_mb is not None:
        found.append({"name": _("kept inputs and other files of the scratch folder"), "code": "",
                      "mb": max(0, rest), "jobs": None})
    return found


@dataclass(frozen=True)
class Rule:
    """Which folders of ended jobs may go: so many days after the end, and perhaps only of jobs that
    succeeded."""

    days: int
    only_succeeded: bool = False

    def jobs(self, node: Node) -> QuerySet[Job]:
        """In the order of their ends; those whose log-in was withdrawn cannot be reached."""
        states = (JobState.SUCCEEDED,) if self.only_succeeded else FINAL_STATES
        return node.jobs.filter(
            state__in=states, finished_at__lt=timezone.now() - timedelta(days=self.days),
            folder_removed_at=None).exclude(login__withdrawn_at__isnull=False).select_related(
            "node", "login", "engagement").prefetch_related("artifacts").order_by(
            "finished_at", "pk")


def why_kept(job: Job) -> str:
    """Why the folder of an ended job stays; empty where all that was fetched of it is stored with
    the checksum that was recorded."""
    damaged = [artifact.name for artifact in job.artifacts.all() if not is_intact(artifact)]
    return _("stored files are missing or damaged: %(names)s") % {
        "names": ", ".join(damaged)} if damaged else ""


def dry_run(node: Node, rule: Rule, user) -> list[dict]:
    """The oldest folders that the rule is about, of jobs that the user sees: `job`, `bytes` as last
    seen, and `why_kept`, empty for one that would be removed."""
    jobs = rule.jobs(node).exclude(started_at=None).filter(
        pk__in=Job.objects.visible_to(user).values("pk"))
    return [{"job": job, "why_kept": why_kept(job) if job.artifacts.all() else _(
                "nothing of it is stored here"),
             "bytes": job.folder_kb and job.folder_kb * 1024} for job in jobs[:AT_ONCE]]


def remove_folder(job: Job) -> None:
    """What remains on the node is the proof that the job was started."""
    ssh.run(job.access, scripts.remove_script(replies.place(job)))
    Job.objects.filter(pk=job.pk).update(folder_removed_at=timezone.now(), folder_kb=None)
