from django.conf import settings
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import MigratedModel
from engagements.models.visibility import in_engagements_of
from engagements.text.nested_sentences import sentence_of
from workers.models.job import Job, JobState
from workers.models.node import Node


class JobChain(models.Model):
    """A saved sequence of job kinds with parameters and conditions.

    `steps` is a list of {kind, name, parameters, condition, runtime}; the runtime is a row's key,
    left out where the model, the engagement or the node decides; a condition is null (the step
    before has succeeded) or {result, test, value} about the results of the step before. Parameters
    may hold places (`workers.jobs.chain_places`). `code` names one that comes with the product.
    """

    code = models.CharField(max_length=40, unique=True, null=True, blank=True, editable=False)
    name = models.CharField(_("name"), max_length=80, unique=True)
    description = models.CharField(_("description"), max_length=240, blank=True)
    steps = models.JSONField(_("steps"), default=list)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ChainRunQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "ChainRunQuerySet":
        """Runs in visible engagements; for the firm's people only."""
        if not allowed(user, Can.VIEW_INTERNAL):
            return self.none()
        return self.filter(in_engagements_of(user, "model__engagement"))


class ChainRun(models.Model):
    """A chain started for one model. Its steps are a copy: later changes do not reach it."""

    chain = models.ForeignKey(JobChain, models.PROTECT, related_name="runs")
    model = models.ForeignKey(MigratedModel, models.PROTECT, related_name="chain_runs")
    node = models.ForeignKey(Node, models.PROTECT, related_name="chain_runs")
    steps = models.JSONField(default=list)
    given = models.JSONField(_("given at the start"), default=dict, blank=True)
    # Repeats an accepted run on other software: what its jobs measure bears on no verdict.
    is_regression = models.BooleanField(default=False)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Why it ended or waits: a message id and its values, as with jobs.
    message = models.TextField(blank=True)
    message_values = models.JSONField(default=dict, blank=True)

    objects = ChainRunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.chain} · {self.model}"

    @property
    def sentence(self) -> str:
        """Why it ended or waits, in the active language."""
        return sentence_of(self.message, self.message_values) if self.message else ""

    @property
    def last_step(self) -> "ChainStep":
        return max(self.jobs.all(), key=lambda step: step.position)

    @property
    def state_text(self) -> str:
        """Finished, running, or stopped: then the last job can be tried again."""
        if self.finished_at:
            return gettext("Finished")
        job = self.last_step.job
        stopped = job.is_final and job.state != JobState.SUCCEEDED
        return gettext("Stopped") if stopped else gettext("Running")


class ChainStep(models.Model):
    """Which job a step of a run became; the newest attempt where it was tried again."""

    run = models.ForeignKey(ChainRun, models.CASCADE, related_name="jobs")
    position = models.PositiveSmallIntegerField()
    job = models.OneToOneField(Job, models.PROTECT, related_name="chain_step")

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["run", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="one_job_per_chain_step")]
