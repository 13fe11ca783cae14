from datetime import date, datetime

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.planning.models.base import OfPlanQuerySet, SharedQuerySet
from delivery.planning.models.issued import IssuedQuerySet, IssuedRow
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement, MigratedModel, StageRecord
from engagements.models.engagement import localized
from engagements.models.optimistic_locked import OptimisticLocked
from engagements.stages import LET_THROUGH, Stage, StageState

LONGEST_TASK = 500  # working days


class Plan(models.Model):
    """The schedule of an engagement; its dates are computed, never typed."""

    engagement = models.OneToOneField(Engagement, models.CASCADE, related_name="plan")
    starts_on = models.DateField(_("start date"))

    objects = SharedQuerySet.as_manager()

    def __str__(self) -> str:
        return self.engagement.code


class Task(OptimisticLocked):
    """A piece of work in working days, and when it really began and ended."""

    plan = models.ForeignKey(Plan, models.CASCADE, related_name="tasks")
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="plan_tasks", verbose_name=_("model"))
    stage = models.CharField(_("stage"), max_length=16, choices=Stage, blank=True)
    title = models.CharField(_("task"), max_length=120, blank=True,
                             help_text=_("Leave empty to use the stage's name."))
    title_en = models.CharField(_("English name"), max_length=120, blank=True)
    days = models.PositiveSmallIntegerField(_("working days"), default=1,
                                            validators=[MaxValueValidator(LONGEST_TASK)])
    not_before = models.DateField(_("not before"), null=True, blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                              related_name="plan_tasks", verbose_name=_("owner"))
    started_on = models.DateField(_("actual start"), null=True, blank=True)
    finished_on = models.DateField(_("actual finish"), null=True, blank=True)
    position = models.PositiveIntegerField(default=0)

    objects = OfPlanQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(finished_on__isnull=True)
                | models.Q(started_on__isnull=False, finished_on__gte=models.F("started_on")),
                name="task_finishes_after_start"),
            models.CheckConstraint(condition=models.Q(days__lte=LONGEST_TASK),
                                   name="task_not_endless"),
        ]

    def __str__(self) -> str:
        return f"{self.model.code} · {self.localized_title}" if self.model else self.localized_title

    @property
    def stage_record(self) -> StageRecord | None:
        """The stage that this task is the work of: the source of its state. Needs
        `model__stages` to be prefetched."""
        records = self.model.stages.all() if self.model_id and self.stage else ()
        return next((record for record in records if record.stage == self.stage
                     and record.state != StageState.SKIPPED), None)

    @property
    def is_dropped(self) -> bool:
        """Whether it was the work of a stage that went with its model, unfinished."""
        return bool(self.model_id and self.stage and self.model.dropped_at
                    and self._known(_day(self.model.dropped_at))
                    and self.stage_record is None and not self.finished_on)

    # The last day of which something is known, where the plan is told as it stood in the past.
    known_until: date | None = None

    @property
    def began_on(self) -> date | None:
        """The day on which the work began; of a stage that has begun, the typed day corrects the
        day of its move."""
        return self._known(self._began())

    @property
    def ended_on(self) -> date | None:
        """The day on which the work ended; a stage's work ends when it is let through, or when its
        model is dropped."""
        return self._known(self._ended())

    def _known(self, day: date | None) -> date | None:
        return None if day and self.known_until and day > self.known_until else day

    def _began(self) -> date | None:
        record = self.stage_record
        if self.is_dropped:
            return self.started_on or _day(self.model.dropped_at)
        if record is None:
            return self.started_on
        if record.state == StageState.NOT_STARTED:
            return None
        return self.started_on or _day(
            record.started_at or record.submitted_at or record.passed_at)

    def _ended(self) -> date | None:
        record = self.stage_record
        if self.is_dropped:
            return max(_day(self.model.dropped_at), self._began())
        if record is None:
            return self.finished_on
        if record.state not in LET_THROUGH:
            return None
        return self.finished_on or max(_day(record.passed_at), self._began())

    @property
    def localized_title(self) -> str:
        """As typed, else the name of the stage; in the active language."""
        return localized(self.title, self.title_en) or self.get_stage_display()


def _day(moment: datetime | None) -> date:
    return timezone.localdate(moment)


class Dependency(models.Model):
    """Finish-start: `after` begins `lag` working days after the end of `before`."""

    before = models.ForeignKey(Task, models.CASCADE, related_name="followers",
                               verbose_name=_("first"))
    after = models.ForeignKey(Task, models.CASCADE, related_name="precursors",
                              verbose_name=_("then"))
    lag = models.PositiveSmallIntegerField(_("lag (working days)"), default=0,
                                           validators=[MaxValueValidator(LONGEST_TASK)])

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["before", "after"], name="dependency_unique"),
            models.CheckConstraint(condition=~models.Q(before=models.F("after")),
                                   name="task_not_before_itself"),
        ]

    def __str__(self) -> str:
        return f"{self.before} → {self.after}"


class PlanBaselineQuerySet(OfPlanQuerySet, IssuedQuerySet):
    """Seen with the plan."""


class PlanBaseline(IssuedRow):
    """The plan as it was agreed: the computed dates of every task."""

    plan = models.ForeignKey(Plan, models.CASCADE, related_name="baselines")
    version = models.PositiveSmallIntegerField(_("version"))
    reason = models.CharField(_("reason"), max_length=240, blank=True)
    tasks = models.JSONField(default=dict)  # task id: {title, start, finish}
    taken_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    taken_at = models.DateTimeField(auto_now_add=True)

    objects = PlanBaselineQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["plan", "version"],
                                               name="plan_baseline_version_unique")]

    def __str__(self) -> str:
        return f"{self.plan} · V{self.version}"

    @property
    def engagement(self) -> Engagement:
        return self.plan.engagement

    @property
    def file_name(self) -> str:
        return f"{self.engagement.code}-plan-V{self.version}"


class Milestone(models.Model):
    """A date that releases a payment; the percentages of a plan add up to exactly 100."""

    class Trigger(models.TextChoices):
        CONTRACT = "contract", _("Signed contract")
        PLAN = "plan", _("Confirmed migration plan")
        TEST_REPORT = "TR", _("Test completion report")
        PRELIMINARY = "preliminary", _("Provisional acceptance certificate")
        ACCEPTANCE = "FA", _("Final acceptance certificate")
        TIMESHEET = "timesheet", _("Confirmed timesheet")

    plan = models.ForeignKey(Plan, models.CASCADE, related_name="milestones")
    name = models.CharField(_("milestone"), max_length=80)
    name_en = models.CharField(_("English name"), max_length=80, blank=True)
    percent = models.DecimalField(_("payment (%)"), max_digits=5, decimal_places=2)
    trigger = models.CharField(_("trigger document"), max_length=12, choices=Trigger)
    task = models.ForeignKey(Task, models.SET_NULL, null=True, blank=True,
                             related_name="milestones", verbose_name=_("follows from task"))
    position = models.PositiveSmallIntegerField(default=0)

    objects = OfPlanQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(condition=models.Q(percent__gte=0) & models.Q(percent__lte=100),
                                   name="milestone_percent_range")]

    def __str__(self) -> str:
        return self.localized_name

    @property
    def localized_name(self) -> str:
        return localized(self.name, self.name_en)
