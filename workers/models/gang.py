from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from workers.models.job import Job

MOST_RESTARTS = 10


class Gang(models.Model):
    """The nodes of a job that runs on several of them at once.

    The job itself has no node and no process; each node has a member, a job with the node's rank,
    which is started, followed and ended as any other. A restart makes new members: their `attempt`
    is the round.
    """

    job = models.OneToOneField(Job, models.PROTECT, related_name="own_gang")
    restarts_allowed = models.PositiveSmallIntegerField(
        _("restarts"), default=0, validators=[MaxValueValidator(MOST_RESTARTS)])
    round = models.PositiveSmallIntegerField(default=1)
    # Addresses, cards and port of this round, as `workers.gangs.rendezvous` keeps them.
    rendezvous = models.JSONField(default=dict, blank=True)
    failing_since = models.DateTimeField(null=True, blank=True)  # a rank of this round failed

    objects = AuditedQuerySet.as_manager()

    def __str__(self) -> str:
        return str(self.job)

    def present(self) -> models.QuerySet[Job]:
        """The members of this round by rank, with node and log-in."""
        return self.members.filter(attempt=self.round).select_related(
            "node", "login", "engagement", "model").order_by("rank")
