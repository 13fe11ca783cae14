from django.db import models
from django.utils.translation import gettext_lazy as _

from workers.models.job import Job


class JobLog(models.Model):
    """A log file of a job beside its output, over its rotations one text.

    It has the attributes that `workers.logs.live_log` asks of a job.
    """

    job = models.ForeignKey(Job, models.CASCADE, related_name="logs")
    name = models.CharField(_("name"), max_length=200)  # below the work folder, unrotated
    log_stored = models.PositiveBigIntegerField(default=0)  # length of our masked copy
    # How much of which file was read: {inode: bytes}.
    read = models.JSONField(default=dict)

    class Meta:
        ordering = ["job", "name"]
        constraints = [models.UniqueConstraint(fields=["job", "name"],
                                               name="one_log_per_job_and_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_final(self) -> bool:
        return self.job.is_final

    @property
    def artifacts(self):
        """The stored files of its job, of which it becomes one."""
        return self.job.artifacts

    @property
    def live_name(self) -> str:
        """Of the growing copy, below the folder of live logs."""
        return f"extra/{self.pk}.log"

    @property
    def artifact_name(self) -> str:
        """Of the stored file."""
        return f"desk-logs/{self.name}"
