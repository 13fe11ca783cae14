from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet


class OfPersonQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "OfPersonQuerySet":
        """For the firm's people: who is away and who knows what, whatever the engagement."""
        return self if allowed(user, Can.VIEW_INTERNAL) else self.none()


class Absence(models.Model):
    """Days on which a person of the firm does not work."""

    class Kind(models.TextChoices):
        LEAVE = "leave", _("Leave")
        ILLNESS = "illness", _("Illness")
        TRAINING = "training", _("Training")
        OTHER = "other", _("Other")

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="absences",
                               verbose_name=_("person"))
    first = models.DateField(_("first day"))
    last = models.DateField(_("last day"))
    kind = models.CharField(_("kind"), max_length=10, choices=Kind, default=Kind.LEAVE)
    note = models.CharField(_("note"), max_length=120, blank=True)

    objects = OfPersonQuerySet.as_manager()

    class Meta:
        ordering = ["first", "pk"]
        indexes = [models.Index(fields=["last", "first"], name="absences_by_day")]
        constraints = [models.CheckConstraint(condition=models.Q(last__gte=models.F("first")),
                                              name="absence_ends_after_its_start")]

    def __str__(self) -> str:
        return f"{self.person} · {self.first} – {self.last}"


class Skill(models.Model):
    """What a person can do, or the certificate that says so."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="skills",
                               verbose_name=_("person"))
    name = models.CharField(_("skill or certificate"), max_length=80)
    certificate = models.CharField(_("certificate number"), max_length=80, blank=True)
    valid_until = models.DateField(_("valid until"), null=True, blank=True)

    objects = OfPersonQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["person", "name"],
                                               name="one_skill_per_person_and_name")]

    def __str__(self) -> str:
        return f"{self.person} · {self.name}"


class MarginFloor(models.Model):
    """The margin below which an engagement is an exception; one row, none before it is set."""

    percent = models.DecimalField(_("lowest margin (%)"), max_digits=5, decimal_places=2,
                                  validators=[MinValueValidator(-100), MaxValueValidator(100)])

    objects = AuditedQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(pk=1),
                                              name="one_margin_floor")]

    def __str__(self) -> str:
        return f"{self.percent} %"


class PlannedTaskQuerySet(models.QuerySet):
    def under_way(self) -> "PlannedTaskQuerySet":
        """Of engagements that are not over."""
        return self.filter(task__plan__engagement__state="active")


class PlannedTask(models.Model):
    """The computed days of a task that has an owner and is not finished: a summary for lists over
    all plans.

    Kept after every write that moves a plan, and every night, since what is not begun begins today
    at the earliest (`delivery.planning.people.planned_tasks`).
    """

    task = models.OneToOneField("planning.Task", models.CASCADE, primary_key=True,
                                related_name="planned")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    first = models.DateField()
    last = models.DateField()

    objects = PlannedTaskQuerySet.as_manager()

    class Meta:
        ordering = ["first", "pk"]
        indexes = [models.Index(fields=["person", "last", "first"], name="planned_by_person"),
                   models.Index(fields=["last", "first"], name="planned_by_day")]

    def __str__(self) -> str:
        return f"{self.task}: {self.first} – {self.last}"
