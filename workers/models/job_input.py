from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from workers.models.artifact import Artifact
from workers.models.job import Job
from workers.models.node import Node


class JobInput(models.Model):
    """What a parameter of a job names that lies elsewhere, and how it came to the job's node; what
    is read where it is kept was never brought."""

    class Way(models.TextChoices):
        PENDING = "", _("To be brought")
        COPIED = "copied", _("Copied, checksums compared")
        CACHED = "cached", _("There from before, checksums compared")
        IN_PLACE = "in_place", _("Used in place")

    job = models.ForeignKey(Job, models.CASCADE, related_name="inputs")
    slot = models.CharField(max_length=60)  # the parameter's name, of words with their number
    reference = models.CharField(max_length=640)  # see `workers.kinds.references`
    name = models.CharField(max_length=240)  # of the file or folder, as the job sees it
    artifact = models.ForeignKey(Artifact, models.PROTECT, null=True, blank=True,
                                 related_name="used_by")
    source_job = models.ForeignKey(Job, models.PROTECT, null=True, blank=True,
                                   related_name="used_by")
    source_node = models.ForeignKey(Node, models.PROTECT, null=True, blank=True,
                                    related_name="+")
    way = models.CharField(max_length=8, choices=Way, blank=True, default=Way.PENDING)
    digest = models.CharField(max_length=64, blank=True)  # SHA-256 of the list of its files
    files = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    arrived = models.PositiveBigIntegerField(default=0)  # bytes of it on the node
    place = models.CharField(max_length=700, blank=True)  # where it is used in place

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["job", "slot"]
        constraints = [models.UniqueConstraint(fields=["job", "slot"], name="one_input_per_slot")]

    def __str__(self) -> str:
        return self.reference

    def copy_for(self, job: Job) -> "JobInput":
        """The same for another job, still to be brought; not saved."""
        return JobInput(job=job, slot=self.slot, reference=self.reference, name=self.name,
                        artifact=self.artifact, source_job=self.source_job,
                        source_node=self.source_node)

    @property
    def percent(self) -> int:
        """How much of it is there."""
        return min(100, 100 * self.arrived // self.size) if self.size else 0
