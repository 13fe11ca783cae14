from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.acceptance.models.contract_terms import EngagementRowsQuerySet
from engagements.models import Engagement, MigratedModel
from workers.models import ChainRun, Job, Node


class RegressionRun(models.Model):
    """The accepted runs of a model, repeated on a node with other software: what has moved."""

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="regression_runs")
    number = models.PositiveIntegerField(_("number"))
    model = models.ForeignKey(MigratedModel, models.PROTECT, related_name="regression_runs",
                              verbose_name=_("model"))
    node = models.ForeignKey(Node, models.PROTECT, related_name="+", verbose_name=_("node"))
    release = models.CharField(_("what is new"), max_length=120)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    started_at = models.DateTimeField(auto_now_add=True)

    objects = EngagementRowsQuerySet.as_manager()

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["engagement", "number"],
                                               name="regression_number_unique")]

    def __str__(self) -> str:
        return f"RG-{self.engagement.code}-{self.number:02}"


class RegressionJobQuerySet(EngagementRowsQuerySet):
    engagement_path = "run__engagement"


class RegressionJob(models.Model):
    """One accepted job and the job that repeats it, alone or as the same step of its chain."""

    run = models.ForeignKey(RegressionRun, models.CASCADE, related_name="jobs")
    accepted = models.ForeignKey(Job, models.PROTECT, related_name="+")
    repeated = models.OneToOneField(Job, models.PROTECT, null=True, blank=True, related_name="+")
    chain_run = models.ForeignKey(ChainRun, models.PROTECT, null=True, blank=True,
                                  related_name="+")
    position = models.PositiveSmallIntegerField(null=True, blank=True)  # in the chain, from 0 on

    objects = RegressionJobQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.CheckConstraint(
            condition=models.Q(repeated__isnull=False, chain_run=None, position=None)
            | models.Q(repeated=None, chain_run__isnull=False, position__isnull=False),
            name="repeated_alone_or_in_chain")]

    @property
    def repeating(self) -> Job | None:
        """The job that repeats the accepted one; None before its chain has come so far."""
        if self.chain_run is None:
            return self.repeated
        return next((step.job for step in self.chain_run.jobs.all()
                     if step.position == self.position), None)
