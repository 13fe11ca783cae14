"""What the parameters of a new job name that lies elsewhere: looked up, allowed, kept with it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from engagements.access import Can, allowed
from engagements.errors import InvalidInput
from engagements.models import Engagement, User
from workers.artifacts import input_sources
from workers.dispatch import staging
from workers.kinds import JobKind
from workers.kinds.parameters import references_in
from workers.kinds.references import Reference
from workers.models import Artifact, Job, JobInput, Node


@dataclass
class Found:
    """Rows to be made, by slot; empty for a job that needs nothing from elsewhere."""

    rows: dict[str, JobInput] = field(default_factory=dict)
    is_practice: bool = False  # whether anything of it is: then what the job makes of it is, too

    @property
    def files(self) -> list[Artifact]:
        """The stored files among them."""
        return [row.artifact for row in self.rows.values() if row.artifact]

    def keep_for_members(self, members: Iterable[Job]) -> None:
        """Make the rows of each node's part of a job on several nodes."""
        JobInput.objects.bulk_create(row.copy_for(member) for member in members
                                     for row in self.rows.values())

    def keep(self, kind: JobKind, job: Job) -> None:
        """Make the rows, and the job's command with the paths at which it will find them."""
        if not self.rows or job.nodes_wanted > 1:
            return
        for row in self.rows.values():
            row.job = job
        JobInput.objects.bulk_create(self.rows.values())
        if kind.runs_on_node:
            job.command = kind.argv(staging.placed_parameters(kind, job))
            job.save(update_fields=["command"])


def found_in(*, user: User, kind: JobKind, values: dict[str, Any],
             engagement: Engagement | None) -> Found:
    """The inputs that the values name.

    Raises InvalidInput for what the person does not see, for what is of another engagement, and
    for paths of nodes outside of the folders that may be browsed.
    """
    rows = {slot: _row(user, slot, reference, engagement)
            for slot, reference in references_in(kind.parameters, values).items()}
    rows |= {slot: _row(user, slot, reference, engagement, way=JobInput.Way.IN_PLACE)
             for slot, reference in kind.read_in_place(values).items()}
    sources = [source for row in rows.values()
               for source in (row.artifact, row.source_job, row.source_node) if source]
    reads_practice = bool(
        kind.reads_every_file and engagement and engagement.has_practice_data)
    return Found(rows, reads_practice or any(source.is_practice for source in sources))


def _row(user: User, slot: str, reference: Reference, engagement: Engagement | None,
         way: str = JobInput.Way.PENDING) -> JobInput:
    row = JobInput(slot=slot, reference=str(reference), way=way)
    last = reference.path.rsplit("/", 1)[-1]
    if reference.kind == "file":
        row.artifact = _of(engagement, reference, Artifact.objects.visible_to(user).filter(
            pk=reference.key).first())
        last = row.artifact.name.rsplit("/", 1)[-1]
        if way == JobInput.Way.IN_PLACE:
            row.files, row.size, row.arrived = 1, row.artifact.size, row.artifact.size
    elif reference.kind == "node":
        row.source_node = _node(user, reference)
    else:
        row.source_job = _of(engagement, reference, Job.objects.visible_to(user).select_related(
            "node").filter(pk=reference.key).first())
        if way == JobInput.Way.PENDING:
            _require_there(row.source_job, reference)
    row.name = (last or f"job-{reference.key}")[:240]
    return row


def _of(engagement: Engagement | None, reference: Reference, found):
    if found is None or found.engagement_id not in (None, engagement and engagement.pk):
        raise InvalidInput(_("“%(input)s” does not belong "
                             "to this engagement.") % {"input": reference})
    return found


def _require_there(job: Job, reference: Reference) -> None:
    if reference.kind == "job" and not input_sources.stored_files(job, reference.path):
        raise InvalidInput(_("“%(input)s” names no stored file.") % {"input": reference})
    if reference.kind == "work" and (job.node is None or job.started_at is None
                                     or job.folder_removed_at):
        raise InvalidInput(_("The folder of job %(job)d is not on a node, or not any more.")
                           % {"job": job.pk})


def _node(user: User, reference: Reference) -> Node:
    node = Node.objects.visible_to(user).filter(pk=reference.key).first()
    if node is None or not (allowed(user, Can.WORK) or allowed(user, Can.OPERATE)):
        raise InvalidInput(_("“%(input)s” names no node.") % {"input": reference})
    path = f"/{reference.path}"
    if not any(path == root or path.startswith(root.rstrip("/") + "/") for root in node.roots):
        raise InvalidInput(_(
            "“%(path)s” lies in none of the folders of the node %(node)s that may be browsed.")
            % {"path": path, "node": node.name})
    return node

