from django.conf import settings
from django.db import models
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Agent, MigratedModel
from engagements.models.visibility import in_engagements_of
from engagements.text.nested_sentences import sentence_of
from engagements.text.text_joining import following
from workers.models.job import Job, JobState
from workers.models.node import Node

COMPLETE = gettext_noop("All %(n)d steps succeeded.")
UNMET = gettext_noop("Step %(n)d was not started: its condition is not met.")
NOT_QUEUED = gettext_noop("Step %(n)d could not be queued: %(why)s")
CANCELLED = gettext_noop("It was cancelled at step %(n)d of %(all)d; no further step is queued.")
ENDED_STATES = {COMPLETE: gettext_lazy("Finished"), UNMET: gettext_lazy("Finished"),
                NOT_QUEUED: gettext_lazy("Stopped"), CANCELLED: gettext_lazy("Cancelled")}


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
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, blank=True, related_name="+")
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
        """What it waits for, or why it ended, in the active language."""
        step = self.last_step
        values = {"n": step.position + 1, "all": len(self.steps), "job": step.job_id,
                  "state": step.job.get_state_display()}
        if self.message:
            return following(sentence_of(self.message, self.message_values), "" if
                             step.job.is_final else
                             gettext("Its job %(job)d is being ended (%(state)s).") % values)
        said = gettext("It stopped at step %(n)d of %(all)d: job %(job)d is “%(state)s”. It can be "
                       "resumed there, or cancelled.") if self.has_stopped else gettext(
            "It waits for step %(n)d of %(all)d: job %(job)d is “%(state)s”.")
        return following(said % values, step.job.sentence)

    @property
    def last_step(self) -> "ChainStep":
        return max(self.jobs.all(), key=lambda step: step.position)

    @property
    def has_stopped(self) -> bool:
        """Whether it goes on only if a person resumes it: a job failed, or a step was refused."""
        if self.finished_at:
            return self.message == NOT_QUEUED
        job = self.last_step.job
        return job.is_final and job.state != JobState.SUCCEEDED

    @property
    def may_be_cancelled(self) -> bool:
        """Whether it runs or has stopped."""
        return self.finished_at is None or self.has_stopped

    @property
    def state_text(self) -> str:
        """Running, stopped, finished or cancelled."""
        if self.finished_at:
            return str(ENDED_STATES.get(self.message, gettext("Finished")))
        return gettext("Stopped") if self.has_stopped else gettext("Running")


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
