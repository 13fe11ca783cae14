from datetime import date, timedelta

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.planning.models.base import InternalQuerySet, SharedQuerySet
from delivery.planning.models.issued import EditionQuerySet, EditionRow
from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement, MigratedModel
from engagements.models.engagement import localized
from engagements.models.optimistic_locked import OptimisticLocked
from workers.models import Artifact


class RiskQuerySet(InternalQuerySet):
    def for_customers(self) -> "RiskQuerySet":
        """Those that documents for the customer print: not closed, and not only for the team."""
        return self.exclude(state=Risk.State.CLOSED).filter(is_internal=False)


class Risk(OptimisticLocked):
    """A risk of the project: how likely, how bad, whose, and what is done about it."""

    class Level(models.IntegerChoices):
        VERY_LOW = 1, _("1 very low")
        LOW = 2, _("2 low")
        MEDIUM = 3, _("3 medium")
        HIGH = 4, _("4 high")
        VERY_HIGH = 5, _("5 very high")

    class State(models.TextChoices):
        OPEN = "open", _("Watched")
        OCCURRED = "occurred", _("Occurred")
        CLOSED = "closed", _("Closed")

    HIGH_FROM, MEDIUM_FROM = 15, 6  # of 25, the product of probability and impact

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="risks")
    number = models.PositiveIntegerField(_("number"))
    title = models.CharField(_("risk"), max_length=160)
    title_en = models.CharField(_("risk in English"), max_length=160, blank=True)
    probability = models.PositiveSmallIntegerField(_("probability"), choices=Level)
    impact = models.PositiveSmallIntegerField(_("impact"), choices=Level)
    response = models.TextField(_("response"), blank=True)
    response_en = models.TextField(_("response in English"), blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="risks",
                              verbose_name=_("owner"))
    review_on = models.DateField(_("review date"))
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.OPEN)
    is_internal = models.BooleanField(
        _("only for the team"), default=False,
        help_text=_("Not printed in any document for the customer."))

    objects = RiskQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        indexes = [models.Index(fields=["owner", "review_on"], name="open_risks_of_a_person",
                                condition=~models.Q(state="closed")),
                   models.Index(fields=["owner", "id"], name="risks_by_owner")]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "number"], name="risk_number_unique"),
            models.CheckConstraint(
                condition=models.Q(probability__range=(1, 5), impact__range=(1, 5)),
                name="risk_levels_one_to_five"),
        ]

    def __str__(self) -> str:
        return f"R-{self.number:03} {self.localized_title}"

    @property
    def localized_title(self) -> str:
        return localized(self.title, self.title_en)

    @property
    def local_response(self) -> str:
        return localized(self.response, self.response_en)

    @property
    def score(self) -> int:
        return self.probability * self.impact

    @property
    def severity(self) -> str:
        """high, medium or low by the score."""
        return ("high" if self.score >= self.HIGH_FROM else
                "medium" if self.score >= self.MEDIUM_FROM else "low")


class ProjectIssueQuerySet(InternalQuerySet):
    def blocking_final(self, engagement: Engagement) -> "ProjectIssueQuerySet":
        """Open ones that are blocking, or of which somebody said that they hold up the final
        acceptance."""
        return self.filter(
            models.Q(affects_final=True) | models.Q(level=ProjectIssue.Level.BLOCKING),
            engagement=engagement, closed_on=None)


class ProjectIssue(OptimisticLocked):
    """An outstanding issue of the project (遗留问题, DOMAIN 9.10)."""

    class Level(models.TextChoices):
        BLOCKING = "blocking", _("Blocking")
        MAJOR = "major", _("Major")
        MINOR = "minor", _("Minor")

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="project_issues")
    model = models.ForeignKey(MigratedModel, models.SET_NULL, null=True, blank=True,
                              related_name="project_issues", verbose_name=_("model"))
    number = models.PositiveIntegerField(_("number"))
    description = models.CharField(_("outstanding issue"), max_length=400)
    level = models.CharField(_("level"), max_length=10, choices=Level)
    effect = models.CharField(_("effect"), max_length=240, blank=True)
    affects_final = models.BooleanField(_("holds up the final acceptance"), default=False)
    raised_on = models.DateField(_("raised on"))
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT,
                              related_name="project_issues", verbose_name=_("owner"))
    due_on = models.DateField(_("due date"))
    closed_on = models.DateField(_("closed on"), null=True, blank=True)

    objects = ProjectIssueQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "number"], name="issue_number_unique"),
            models.CheckConstraint(
                condition=models.Q(closed_on__isnull=True)
                | models.Q(closed_on__gte=models.F("raised_on")),
                name="issue_closed_after_raised"),
        ]

    def __str__(self) -> str:
        return f"I-{self.number:03} {self.description[:80]}"


class MeetingQuerySet(SharedQuerySet):
    def visible_to(self, user) -> "MeetingQuerySet":
        """Of visible engagements; the customer sees what was shared."""
        found = super().visible_to(user)
        return found if allowed(user, Can.VIEW_INTERNAL) else found.exclude(shared_at=None)


class Meeting(OptimisticLocked):
    """Minutes of a meeting (会议纪要): what was said, decided, and who does what by when."""

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="meetings")
    number = models.PositiveIntegerField(_("number"))
    topic = models.CharField(_("topic"), max_length=160)
    held_at = models.DateTimeField(_("time"))
    place = models.CharField(_("place or method"), max_length=120, blank=True)
    chair = models.CharField(_("chair"), max_length=80)
    participants = models.TextField(_("participants (organisation)"))
    agenda = models.TextField(_("agenda"), blank=True, help_text=_("One item per line."))
    discussion = models.TextField(_("discussion"), blank=True)
    decisions = models.TextField(_("decisions"), blank=True,
                                 help_text=_("One decision per line."))
    attachments = models.ManyToManyField(Artifact, through="MeetingFile", blank=True,
                                         related_name="+", verbose_name=_("attachments"))
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    shared_at = models.DateTimeField(null=True, blank=True)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                     blank=True, related_name="+")  # for the customer
    confirmed_at = models.DateTimeField(null=True, blank=True)

    objects = MeetingQuerySet.as_manager()

    class Meta:
        ordering = ["-held_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "number"],
                                    name="meeting_number_unique"),
            models.CheckConstraint(
                condition=models.Q(confirmed_at=None) | models.Q(shared_at__isnull=False,
                                                                 confirmed_by__isnull=False),
                name="minutes_confirmed_were_shared"),
        ]

    def __str__(self) -> str:
        return f"MM-{self.engagement.code}-{self.number:03} {self.topic}"

    @property
    def agenda_lines(self) -> list[str]:
        return [line.strip() for line in self.agenda.splitlines() if line.strip()]

    @property
    def decision_lines(self) -> list[str]:
        return [line.strip() for line in self.decisions.splitlines() if line.strip()]


class MeetingFile(models.Model):
    """A stored file that belongs to minutes."""

    meeting = models.ForeignKey(Meeting, models.CASCADE, related_name="+")
    artifact = models.ForeignKey(Artifact, models.PROTECT, related_name="+")

    objects = AuditedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["meeting", "artifact"],
                                               name="one_attachment_per_meeting_and_file")]


class TodoQuerySet(SharedQuerySet):
    def visible_to(self, user) -> "TodoQuerySet":
        """Of visible engagements; people of the customer see theirs and those of shared
        minutes."""
        found = super().visible_to(user)
        if allowed(user, Can.VIEW_INTERNAL):
            return found
        return found.filter(models.Q(owner=user) | models.Q(meeting__shared_at__isnull=False))


class Todo(models.Model):
    """Something a person promised by a date, in a meeting or outside of one."""

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="todos")
    meeting = models.ForeignKey(Meeting, models.CASCADE, null=True, blank=True,
                                related_name="todos")
    text = models.CharField(_("to do"), max_length=240)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="todos",
                              verbose_name=_("owner"))
    due_on = models.DateField(_("due date"))
    done_at = models.DateTimeField(null=True, blank=True)
    done_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                related_name="+")

    objects = TodoQuerySet.as_manager()

    class Meta:
        ordering = ["due_on", "pk"]

    def __str__(self) -> str:
        return self.text


class WeeklyReportQuerySet(InternalQuerySet, EditionQuerySet):
    """Of the firm alone, also once they are frozen."""


class WeeklyReport(EditionRow, OptimisticLocked):
    """A week of an engagement: facts that were counted, words that a person wrote."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        FROZEN = "frozen", _("Frozen")

    class Light(models.TextChoices):
        GREEN = "green", _("Green")
        YELLOW = "yellow", _("Yellow")
        RED = "red", _("Red")

    WORKING_STATES = (State.DRAFT,)
    EVENT_TIMES = ("frozen_at",)

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="weekly_reports")
    week_start = models.DateField(_("week from"))
    version = models.PositiveSmallIntegerField(_("version"), default=1)
    correction = models.CharField(_("what was corrected and why"), max_length=400, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.DRAFT)
    light = models.CharField(_("overall state"), max_length=8, choices=Light,
                             default=Light.GREEN)
    facts = models.JSONField(default=dict)
    summary = models.TextField(_("done this week"), blank=True)
    deviations = models.TextField(_("reasons for deviations from the plan"), blank=True)
    next_week = models.TextField(_("plan for next week"), blank=True)
    problems = models.TextField(_("problems and answers"), blank=True)
    customer_duties = models.TextField(_("needed from the customer"), blank=True)
    written_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    frozen_at = models.DateTimeField(null=True, blank=True)
    content_hash = models.CharField(max_length=64, blank=True)

    objects = WeeklyReportQuerySet.as_manager()

    class Meta:
        ordering = ["-week_start"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "week_start"],
                                    name="one_report_a_week"),
            models.CheckConstraint(
                condition=models.Q(state="draft")
                | (models.Q(frozen_at__isnull=False) & ~models.Q(content_hash="")),
                name="frozen_report_has_hash"),
        ]

    def __str__(self) -> str:
        later = f"-V{self.version}" if self.version > 1 else ""
        return f"WR-{self.engagement.code}-{self.week_start:%G-W%V}{later}"

    @property
    def week_end(self) -> date:
        """The Sunday of the week."""
        return self.week_start + timedelta(days=6)
