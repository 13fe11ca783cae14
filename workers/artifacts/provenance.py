"""What is known of a file by its bytes: which jobs made them, for which purpose, on which device.

Equal bytes are equal facts, whoever stored them, under which name, packed or not: whatever shows,
judges or prints a file asks here and not the row that happens to hold it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils.translation import gettext_lazy as _

from engagements.remembered_reads import remembered
from workers.models import Artifact, Job, JobInput, Purpose


class Origin(models.TextChoices):
    """Whose word it is that a file is what it claims."""

    JOB = "job", _("Collected from a job")
    PERSON = "person", _("Uploaded by a person")
    AGENT = "agent", _("Declared by an agent")


NO_DEVICE = "device"  # what `kinds.judgement.not_provable` says of a job that showed no NPU


def copies_of(*artifacts: Artifact) -> QuerySet[Artifact]:
    """Every stored file of the same bytes, themselves included, the first first: also packed, and
    as it lay on the node before secrets were masked."""
    known = set().union(*map(_sums, artifacts))
    return Artifact.objects.filter(
        Q(sha256__in=known) | Q(content_sha256__in=known) | Q(node_sha256__in=known)
    ).select_related("job", "uploaded_by", "agent").order_by("pk")


def _sums(artifact: Artifact) -> set[str]:
    return {artifact.sha256, artifact.content_sha256, artifact.node_sha256} - {""}


def has_copy(file: str, *conditions: Q, **columns) -> Exists:
    """For a query: whether some stored file has the bytes of the one at the path `file` from a
    row ("" for files themselves) and meets the conditions."""
    path = f"{file}__" if file else ""
    bytes_of = Coalesce(NullIf(OuterRef(f"{path}content_sha256"), Value("")),
                        OuterRef(f"{path}sha256"), output_field=models.CharField())
    return Exists(Artifact.objects.filter(
        Q(sha256=bytes_of) | Q(content_sha256=bytes_of) | Q(node_sha256=bytes_of),
        *conditions, **columns))


def declared(purpose: str, file: str = "") -> Q:
    """For a query: files whose own row, or job, was declared for the purpose."""
    path = f"{file}__" if file else ""
    return Q(**{f"{path}job__purpose": purpose}) | Q(
        **{f"{path}job": None, f"{path}purpose": purpose})


def is_of_source(artifact: Artifact) -> bool:
    """Whether its bytes are those of a file of the source platform in its engagement."""
    return copies_of(artifact).filter(
        declared(Purpose.SOURCE), engagement=artifact.engagement_id).exists()


@dataclass(frozen=True)
class Provenance:
    """The answers for one file. Jobs of other engagements give facts, and are not named."""

    artifact: Artifact
    copies: tuple[Artifact, ...]

    @cached_property
    def makers(self) -> list[Job]:
        """The jobs that made the bytes: its own, then the others in their order."""
        found = {row.job_id: row.job for row in self.copies if row.job_id}
        return sorted(found.values(), key=lambda job: (job.pk != self.artifact.job_id, job.pk))

    @property
    def job(self) -> Job | None:
        """The job of the engagement that made them."""
        return next((job for job in self.makers
                     if job.engagement_id == self.artifact.engagement_id), None)

    @property
    def declared_by(self) -> str:
        """Who stored the file, where no job made it: that it is what it claims rests on them."""
        if self.makers:
            return ""
        return f"{self.artifact.uploaded_by or '–'}" + (
            f" ({self.artifact.agent.name})" if self.artifact.agent else "")

    @property
    def is_declared_by_agent(self) -> bool:
        """Whether no job made the bytes and no person stored them."""
        return not self.makers and all(row.agent_id for row in self.copies)

    @property
    def origin(self) -> str:
        """Whether the file was collected from a job, uploaded by a person, or is declared by an
        agent."""
        if self.makers:
            return Origin.JOB
        return Origin.AGENT if self.is_declared_by_agent else Origin.PERSON

    @property
    def purpose(self) -> str:
        """One of `Purpose`, as the first job, else the newest upload was declared in the
        engagement; empty where nobody said it. Once of the source platform, always."""
        own = [row for row in self.copies if row.engagement_id == self.artifact.engagement_id]
        said = [row.job.purpose for row in own if row.job] or [
            row.purpose for row in reversed(own)]
        found = [purpose for purpose in said if purpose]
        return Purpose.SOURCE if Purpose.SOURCE in [
            *found, *(row.purpose for row in own if not row.job)] else next(iter(found), "")

    def get_purpose_display(self) -> str:
        return str(Purpose(self.purpose).label) if self.purpose else ""

    @property
    def is_practice(self) -> bool:
        """Marked itself, in its engagement, or made by a practice job anywhere."""
        return any(row.is_practice and (
            row.job_id or row.engagement_id == self.artifact.engagement_id) for row in self.copies)

    @cached_property
    def inputs(self) -> "list[Provenance]":
        """Of a file that the server computed: what is known of those it read, without those of
        the source platform."""
        if not self.makers or any(job.node_id or job.nodes_wanted > 1 for job in self.makers):
            return []
        read = Artifact.objects.filter(used_by__job=self.makers[0]).exclude(pk=self.artifact.pk)
        return [found for row in read.select_related("job", "uploaded_by")
                if (found := of(row)).purpose != Purpose.SOURCE]

    @property
    def device(self) -> str:
        """What the record of the job that made it proves it used; empty where it proves nothing."""
        if self.is_without_device:
            return ""
        used = [job.results.get("device", "") for job in self.makers]
        return next(filter(None, [*used, *(found.device for found in self.inputs)]), "")

    @property
    def is_without_device(self) -> bool:
        """Whether the record of a job that made it says that no NPU was shown."""
        return any(job.results.get("not_provable") == NO_DEVICE for job in self.makers) or any(
            found.is_without_device for found in self.inputs)


@remembered
def of(artifact: Artifact) -> Provenance:
    """What is known of the file. One query; another for each file that the server read for it."""
    return of_each([artifact])[artifact.pk]


def of_each(artifacts: Sequence[Artifact]) -> dict[int, Provenance]:
    """The same of many by their keys, in one query."""
    rows = list(copies_of(*artifacts))
    return {artifact.pk: Provenance(artifact, tuple(
        row for row in rows if _sums(row) & _sums(artifact))) for artifact in artifacts}


def mark_source(artifact: Artifact) -> None:
    """Note that a file and all that its job made tell of the source platform, and what the server
    computed from nothing but such files. The caller owns the transaction, checks the right and
    writes the audit entry afterwards."""
    made = (Job.objects.filter(pk=artifact.job_id) if artifact.job_id
            else Artifact.objects.filter(pk=artifact.pk))
    made.exclude(purpose=Purpose.SOURCE).update(purpose=Purpose.SOURCE)
    inputs = JobInput.objects.filter(job=OuterRef("pk"))
    computed = Job.objects.filter(
        Exists(inputs), ~Exists(inputs.exclude(has_copy(
            "artifact", declared(Purpose.SOURCE), engagement=OuterRef("artifact__engagement")))),
        engagement=artifact.engagement_id, node=None, nodes_wanted=1).exclude(
        purpose=Purpose.SOURCE)
    while computed.update(purpose=Purpose.SOURCE):  # what they made is the input of others
        pass
