from datetime import date
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.planning.effort_choices import Grade, WorkItem
from delivery.planning.models.base import InternalQuerySet
from delivery.planning.models.issued import EditionQuerySet, EditionRow
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement, MigratedModel
from engagements.stages import Stage


class TimesheetQuerySet(EditionQuerySet):
    """Put to the customer by a manager: the customer sees them too."""


class Timesheet(EditionRow):
    """A month's time of an engagement (工时确认单) as a manager put it to the customer.

    The entries on it never change; what was recorded or corrected later comes on the next one.
    """

    class State(models.TextChoices):
        SUBMITTED = "submitted", _("Submitted")
        CONFIRMED = "confirmed", _("Confirmed")
        REJECTED = "rejected", _("Rejected")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    EVENT_TIMES = ("answered_at", "confirmed_at")

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="timesheets")
    month = models.DateField(_("month"))  # its first day
    number = models.PositiveSmallIntegerField(_("number"))  # within the month
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.SUBMITTED)
    facts = models.JSONField(default=dict)  # see delivery.planning.time.timesheet_facts
    content_hash = models.CharField(max_length=64)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    confirmed_at = models.DateTimeField(auto_now_add=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    rejection = models.TextField(_("reason for the rejection"), blank=True)
    withdrawal = models.TextField(_("reason for the withdrawal"), blank=True)

    objects = TimesheetQuerySet.as_manager()

    class Meta:
        ordering = ["-month", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "month", "number"],
                                    name="timesheet_number_unique"),
            models.UniqueConstraint(fields=["engagement", "month"],
                                    condition=models.Q(state="submitted"),
                                    name="one_waiting_timesheet"),
            models.CheckConstraint(
                condition=models.Q(state="submitted") | models.Q(
                    answered_at__isnull=False, answered_by__isnull=False),
                name="answered_timesheet_has_person"),
        ]

    def __str__(self) -> str:
        return f"TS-{self.engagement.code}-{self.month:%Y%m}-{self.number:02}"


class TimeEntryQuerySet(InternalQuerySet):
    def counted(self) -> "TimeEntryQuerySet":
        """Those that stand: neither corrected by a later entry nor taking one back."""
        return self.filter(is_counted=True)


class TimeEntry(models.Model):
    """One half-day of one person. A person has two half-days a day, over all engagements.

    What stands on a timesheet is never changed: a correction is a new entry that `corrects` it.
    """

    class Half(models.TextChoices):
        MORNING = "am", _("Morning")
        AFTERNOON = "pm", _("Afternoon")

    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="time_entries")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT,
                               related_name="time_entries")
    work_date = models.DateField(_("date"))
    half = models.CharField(_("half-day"), max_length=2, choices=Half)
    model = models.ForeignKey(MigratedModel, models.PROTECT, null=True, blank=True,
                              related_name="time_entries")
    stage = models.CharField(_("stage"), max_length=16, choices=Stage, blank=True)
    item = models.CharField(_("item"), max_length=16, choices=WorkItem)
    grade = models.CharField(_("grade"), max_length=12, choices=Grade)
    note = models.CharField(_("what was done"), max_length=240, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    timesheet = models.ForeignKey(Timesheet, models.PROTECT, null=True, blank=True,
                                  related_name="entries")
    corrects = models.OneToOneField("self", models.PROTECT, null=True, blank=True,
                                    related_name="correction")
    is_taken_back = models.BooleanField(default=False)  # a correction: the half-day was not worked
    is_counted = models.BooleanField(default=True)

    objects = TimeEntryQuerySet.as_manager()

    class Meta:
        ordering = ["-work_date", "person_id", "half", "pk"]
        indexes = [models.Index(fields=["work_date", "-id"], name="time_entries_by_day"),
                   models.Index(fields=["engagement", "-id"], name="time_entries_by_engagement"),
                   models.Index(fields=["engagement", "grade", "-id"],
                                name="time_entries_by_grade")]
        constraints = [
            models.UniqueConstraint(fields=["person", "work_date", "half"],
                                    condition=models.Q(is_counted=True),
                                    name="half_day_worked_once"),
            models.CheckConstraint(
                condition=models.Q(is_taken_back=False)
                | models.Q(is_counted=False, corrects__isnull=False),
                name="only_a_correction_takes_back"),
            models.CheckConstraint(condition=models.Q(half__in=["am", "pm"]),
                                   name="two_halves_a_day"),
        ]

    def __str__(self) -> str:
        return f"{self.person} · {self.work_date} · {self.get_half_display()}"


class GradeCostQuerySet(AuditedQuerySet):
    def on(self, day: date) -> dict[str, Decimal]:
        """The cost of a person-day by grade, as it was valid on a day."""
        return dict(self.filter(valid_from__lte=day).order_by("valid_from").values_list(
            "grade", "day_cost"))


class GradeCost(models.Model):
    """What a person-day of a grade costs the firm from a day on. Only managers see it."""

    grade = models.CharField(_("grade"), max_length=12, choices=Grade)
    valid_from = models.DateField(_("valid from"), default=date(2000, 1, 1))
    day_cost = models.DecimalField(_("cost per person-day (CNY)"), max_digits=12,
                                   decimal_places=2)

    objects = GradeCostQuerySet.as_manager()

    class Meta:
        ordering = ["grade", "-valid_from"]
        constraints = [models.UniqueConstraint(fields=["grade", "valid_from"],
                                               name="one_cost_of_a_grade_per_day"),
                       models.CheckConstraint(condition=models.Q(day_cost__gte=0),
                                              name="day_cost_not_negative")]

    def __str__(self) -> str:
        return self.get_grade_display()

    @property
    def is_first(self) -> bool:
        """Valid for all time before it was set as well."""
        return self.valid_from == self._meta.get_field("valid_from").default
