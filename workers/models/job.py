import secrets
from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils.translation import gettext, gettext_noop, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Agent, Engagement, MigratedModel
from engagements.models.visibility import in_engagements_of
from engagements.queue import ClaimableQuerySet, ClaimableRow
from engagements.stages import Stage
from engagements.text.nested_sentences import sentence_of
from workers.models.login import NodeLogin
from workers.models.node import Node


class JobState(models.TextChoices):
    QUEUED = "queued", _("Queued")
    STAGING = "staging", _("Bringing files")
    LEASING = "leasing", _("Leasing cards")
    STARTING = "starting", _("Starting")
    RUNNING = "running", _("Running")
    COLLECTING = "collecting", _("Collecting files")
    READING = "reading", _("Reading results")
    SUCCEEDED = "succeeded", _("Ran")
    FAILED = "failed", pgettext_lazy("job", "Failed")
    CANCELLED = "cancelled", _("Cancelled")
    TIMED_OUT = "timed_out", _("Timed out")
    LOST = "lost", _("Lost")
    UNKNOWN = "unknown", _("Node unreachable")


# Said of a job while no step has left a sentence of its own.
STATE_SENTENCES = {
    JobState.QUEUED: gettext_noop("Queued; a worker will pick it up shortly."),
    JobState.STAGING: gettext_noop("Bringing the files that it needs to the node."),
    JobState.LEASING: gettext_noop("Allocating cards."),
    JobState.STARTING: gettext_noop("Starting on the node."),
    JobState.RUNNING: gettext_noop("Running."),
    JobState.COLLECTING: gettext_noop("The command has ended; fetching its files."),
    JobState.READING: gettext_noop("Files stored; reading them."),
}
FINAL_STATES = frozenset(
    {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.TIMED_OUT, JobState.LOST}
)
OPEN_STATES = frozenset(set(JobState.values) - FINAL_STATES)
# Ended badly, or nobody knows: somebody has to look.
TROUBLED_STATES = frozenset(
    {JobState.FAILED, JobState.LOST, JobState.TIMED_OUT, JobState.UNKNOWN})
WAITING_STATES = (JobState.QUEUED, JobState.LEASING)  # no node has heard of it


class Purpose(models.TextChoices):
    """Which platform the figures of a run tell of, and what it was made for: said when the job is
    queued or the file is stored, never read off the figures."""

    SOURCE = "source", _("Source platform")
    BEFORE_TUNING = "before_tuning", _("Target platform before tuning")
    TUNING = "tuning", _("Tuning round")
    ACCEPTANCE = "acceptance", _("Acceptance")
    OTHER = "other", _("Other")


PURPOSE_OF_STAGE = {
    Stage.SURVEY: Purpose.SOURCE, Stage.DESIGN: Purpose.SOURCE,
    Stage.ENV: Purpose.BEFORE_TUNING, Stage.TRAIN_ADAPT: Purpose.BEFORE_TUNING,
    Stage.INFER_MIGRATE: Purpose.BEFORE_TUNING, Stage.TRAIN_TUNE: Purpose.TUNING,
    Stage.INFER_TUNE: Purpose.TUNING, Stage.ACCEPT: Purpose.ACCEPTANCE,
    Stage.OPERATION: Purpose.OTHER}


class Priority(models.IntegerChoices):
    URGENT = 10, _("Urgent")
    NORMAL = 0, _("Normal")
    LOW = -10, _("Low")


def new_token() -> str:
    """Keeps the directories of two installations on one node apart."""
    return secrets.token_hex(4)


class JobQuerySet(ClaimableQuerySet, AuditedQuerySet):
    def visible_to(self, user) -> "JobQuerySet":
        """Jobs of visible engagements; node jobs (no engagement) for the firm's people."""
        return self.filter(in_engagements_of(user, or_none=allowed(user, Can.VIEW_INTERNAL)))

    def whole(self) -> "JobQuerySet":
        """Without the members of jobs on several nodes: only the whole job counts."""
        return self.filter(gang=None)

    def listed(self) -> "JobQuerySet":
        """For lists: with the rows that a line names, without what only the job's own page shows;
        no node's key is decrypted."""
        return self.select_related("engagement", "model", "node").defer(
            *Job.LONG_COLUMNS,
            *(f"node__{name}" for name in ("private_key", "passphrase", "scheduler_secret",
                                           "scheduler_facts", "software", "offers")))

    def due(self, now: datetime) -> "JobQuerySet":
        """Open jobs whose next step is due and that no worker holds."""
        return self.in_flight().filter(
            models.Q(next_step_at=None) | models.Q(next_step_at__lte=now)).unclaimed(now)

    def in_flight(self) -> "JobQuerySet":
        return self.filter(state__in=sorted(OPEN_STATES))

    def in_trouble(self) -> "JobQuerySet":
        """Ended badly or out of reach, and neither tried again nor followed by a job of its kind
        that succeeded for the same stage of the model."""
        retries = Job.objects.filter(retry_of=models.OuterRef("pk"))
        better = Job.objects.filter(
            **{name: models.OuterRef(name) for name in ("model", "stage", "kind")},
            pk__gt=models.OuterRef("pk"), state=JobState.SUCCEEDED)
        return self.filter(~models.Exists(retries), ~models.Exists(better),
                           state__in=sorted(TROUBLED_STATES))


class Job(ClaimableRow):
    """One attempt at running one kind of work. The row is the truth, the queue a wake-up."""

    # What only a job's own page and its dispatch read.
    LONG_COLUMNS = ("parameters", "command", "runtime", "results", "remote")

    kind = models.CharField(_("kind"), max_length=40)
    engagement = models.ForeignKey(
        Engagement, models.PROTECT, null=True, blank=True, related_name="jobs"
    )
    model = models.ForeignKey(
        MigratedModel, models.PROTECT, null=True, blank=True, related_name="jobs"
    )
    stage = models.CharField(_("stage"), max_length=16, choices=Stage, blank=True)
    # Empty: nobody said it, in releases before it was asked for.
    purpose = models.CharField(_("purpose"), max_length=16, choices=Purpose, blank=True,
                               default="", db_default="")
    node = models.ForeignKey(Node, models.PROTECT, null=True, blank=True, related_name="jobs")
    login = models.ForeignKey(NodeLogin, models.PROTECT, null=True, blank=True,
                              related_name="jobs")
    is_practice = models.BooleanField(default=False)
    # Repeats an accepted run on other software: what it measures bears on no verdict.
    is_regression = models.BooleanField(default=False)
    parameters = models.JSONField(default=dict, blank=True)
    command = models.JSONField(_("command"), default=list, blank=True)
    # As it was chosen when the job was queued: `workers.runtimes.chosen.Chosen.kept`.
    runtime = models.JSONField(_("runtime"), default=dict, blank=True)
    cards_wanted = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(_("state"), max_length=12, choices=JobState, default=JobState.QUEUED)
    attempt = models.PositiveSmallIntegerField(default=1)
    token = models.CharField(max_length=16, default=new_token, editable=False)
    retry_of = models.ForeignKey("self", models.PROTECT, null=True, blank=True,
                                 related_name="retries")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="jobs", null=True
    )
    # Who queued it in that person's name, if it was an agent.
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, blank=True, related_name="jobs")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    timeout_seconds = models.PositiveIntegerField(default=3600)
    priority = models.SmallIntegerField(_("priority"), choices=Priority, default=Priority.NORMAL)
    priority_reason = models.CharField(max_length=160, blank=True, default="", db_default="")
    # Why an operator keeps it from starting; empty: nobody does.
    hold_reason = models.CharField(max_length=160, blank=True, default="", db_default="")

    # Several nodes: the job has members, one per node (`workers.models.gang`).
    nodes_wanted = models.PositiveSmallIntegerField(default=1)
    gang = models.ForeignKey("workers.Gang", models.PROTECT, null=True, blank=True,
                             related_name="members")
    rank = models.PositiveSmallIntegerField(null=True, blank=True)  # of the member's node

    # How it went: a sentence for people, the cause for engineers.
    # The sentence is kept as a message id and its values, so that each reader gets his language.
    message = models.TextField(_("result"), blank=True)
    message_values = models.JSONField(default=dict, blank=True)
    technical_cause = models.TextField(blank=True)
    exit_status = models.IntegerField(null=True, blank=True)
    results = models.JSONField(default=dict, blank=True)

    # Progress read from the log.
    progress_done = models.PositiveIntegerField(null=True, blank=True)
    progress_total = models.PositiveIntegerField(null=True, blank=True)
    log_offset = models.PositiveBigIntegerField(default=0)  # read of the node's log
    log_stored = models.PositiveBigIntegerField(default=0)  # length of our masked copy
    alarms = models.JSONField(default=list, blank=True)  # codes of workers.logs.early_warnings
    log_grew_at = models.DateTimeField(null=True, blank=True)
    last_loss = models.FloatField(null=True, blank=True)

    # Who works on this row, and what the node said.
    next_step_at = models.DateTimeField(null=True, blank=True, db_index=True)
    remote = models.JSONField(default=dict, blank=True)  # boot id, pid, start time
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    state_before_unknown = models.CharField(max_length=12, blank=True)
    troubles = models.PositiveSmallIntegerField(default=0)  # steps in a row that went wrong
    folder_kb = models.PositiveBigIntegerField(null=True, blank=True)  # on the node, as last seen
    folder_removed_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["state", "-id"], name="jobs_by_state"),
            models.Index(fields=["kind", "-id"], name="jobs_by_kind"),
            models.Index(fields=["node", "-id"], name="jobs_by_node"),
            models.Index(fields=["engagement", "-id"], name="jobs_by_engagement"),
            models.Index(fields=["engagement", "kind", "-id"], name="jobs_of_a_kind"),
            models.Index(fields=["model", "-id"], name="jobs_by_model"),
            models.Index(fields=["created_by", "state"], name="jobs_of_a_person"),
            models.Index(fields=["-finished_at"], name="jobs_by_end",
                         condition=models.Q(state__in=sorted(FINAL_STATES))),
            models.Index(fields=["-id"], name="jobs_in_flight",
                         condition=models.Q(state__in=sorted(OPEN_STATES))),
            models.Index(fields=["-id"], name="jobs_in_trouble",
                         condition=models.Q(state__in=sorted(TROUBLED_STATES))),
            models.Index(fields=["engagement", "-id"], name="troubled_by_engagement",
                         condition=models.Q(state__in=sorted(TROUBLED_STATES))),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(state__in=sorted(FINAL_STATES))
                | models.Q(finished_at__isnull=False),
                name="finished_job_has_time",
            ),
            models.UniqueConstraint(fields=["retry_of", "attempt"], name="one_job_per_attempt"),
            models.UniqueConstraint(fields=["gang", "rank", "attempt"],
                                    name="one_member_per_rank_and_round"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.kind}"

    @property
    def access(self) -> Node | NodeLogin | None:
        """What the desk logs in with for this job: its engagement's log-in, or the node's own."""
        if self.login is None:
            return self.node
        self.login.node = self.node  # the thread of the connections must not ask the database
        return self.login

    @property
    def is_final(self) -> bool:
        return self.state in FINAL_STATES

    @property
    def directory_name(self) -> str:
        """The remote directory: deterministic, so that a second start finds it taken."""
        return f"desk-job-{self.pk}-{self.attempt}-{self.token}"

    @property
    def runtime_name(self) -> str:
        """Of the runtime that the job keeps; empty where it runs on the node as that is."""
        return (self.runtime["name"] or gettext("the node's environment script")) \
            if self.runtime else ""

    @property
    def sentence(self) -> str:
        """The result, or what is going on, as a sentence in the active language."""
        if not self.message:
            waiting = STATE_SENTENCES.get(self.state, "")
            return gettext(waiting) if waiting else ""
        try:
            return sentence_of(self.message, self.message_values)
        except (KeyError, TypeError, ValueError):
            return self.message

    @property
    def node_names(self) -> str:
        """Its node, or those of a job on several nodes that has ended."""
        if self.node:
            return self.node.name
        return ", ".join(rank["node"] for rank in self.results.get("ranks", []))

    @property
    def cards_total(self) -> int:
        """Cards on all its nodes."""
        return self.cards_wanted * self.nodes_wanted

    @property
    def progress_percent(self) -> int | None:
        if not self.progress_total:
            return None
        return min(100, 100 * (self.progress_done or 0) // self.progress_total)


class CardLease(models.Model):
    """A card of a node held by a job until released. At most one claim_token per card."""

    node = models.ForeignKey(Node, models.CASCADE, related_name="leases")
    card_index = models.PositiveSmallIntegerField()
    job = models.ForeignKey(Job, models.CASCADE, related_name="leases")
    fence = models.PositiveBigIntegerField()  # grows with every lease of the node
    taken_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["node", "card_index"]
        constraints = [
            models.UniqueConstraint(
                fields=["node", "card_index"],
                condition=models.Q(released_at__isnull=True),
                name="one_holder_per_card",
            )
        ]
