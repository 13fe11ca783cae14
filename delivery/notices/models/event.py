import re

from django.conf import settings
from django.db import models
from django.utils.translation import gettext as _

from delivery.notices.event_kinds import IMPORTANT, LOG_KINDS, EventKind, kind_of
from engagements.access import Can, allowed
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of
from engagements.stages import Stage
from engagements.text.text_joining import labelled
from workers.kinds.base import title_of

JOB = re.compile(r"(?P<number>#\d+) (?P<kind>[a-z]+\.\w+)")  # as `str` of a job writes it


class EventQuerySet(models.QuerySet):
    def visible_to(self, user) -> "EventQuerySet":
        """Events of visible engagements; to customers only those meant for them, to auditors those
        of the audit log."""
        if allowed(user, Can.WITNESS):
            return self.filter(kind__in=LOG_KINDS)
        if allowed(user, Can.VIEW_INTERNAL):
            return self.filter(in_engagements_of(user, or_none=True))
        return self.filter(in_engagements_of(user), is_for_customers=True)


class Event(models.Model):
    """Something that happened. It holds codes and numbers only, never amounts or names.

    `subject` is the code of the object (a job's number, a quote's number, a model's code);
    the sentence is made in the reader's language.
    """

    kind = models.CharField(max_length=40)
    engagement = models.ForeignKey(Engagement, models.CASCADE, null=True, blank=True,
                                   related_name="events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True,
                              related_name="+")
    subject = models.CharField(max_length=160)
    stage = models.CharField(max_length=16, choices=Stage, blank=True)
    outcome = models.CharField(max_length=16, blank=True)  # one of its kind's
    day = models.DateField(null=True, blank=True)
    path = models.CharField(max_length=240)
    is_for_customers = models.BooleanField(default=False)
    # Of what is found by looking again and again, so that it is announced once.
    key = models.CharField(max_length=120, unique=True, null=True, blank=True)
    at = models.DateTimeField()

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.title

    @property
    def declared(self) -> EventKind:
        return kind_of(self.kind)

    @property
    def title(self) -> str:
        """What happened and what it came to, in the active language."""
        outcome = self.declared.outcomes.get(self.outcome)
        return labelled(self.declared.title, outcome.label) if outcome else str(self.declared.title)

    @property
    def level(self) -> str:
        """The colour of its outcome, else of its kind."""
        return self.declared.outcomes.get(self.outcome, self.declared).level

    @property
    def about(self) -> str:
        """Which object, in the active language: codes, a job's kind, stage and day."""
        job = JOB.fullmatch(self.subject)
        parts = [f"{job['number']} {title_of(job['kind'])}" if job else self.subject]
        if self.stage:
            parts.append(self.get_stage_display())
        if self.day:
            parts.append(_("due %(day)s") % {"day": self.day.isoformat()})
        return " · ".join(parts)

    @property
    def project(self) -> str:
        return self.engagement.code if self.engagement_id else ""


class NoticeQuerySet(models.QuerySet):
    def visible_to(self, user) -> "NoticeQuerySet":
        """A person's own notices, as long as he may see what they are about."""
        if not user.is_authenticated:
            return self.none()
        if allowed(user, Can.WITNESS):
            return self.filter(recipient=user, event__kind__in=LOG_KINDS)
        is_internal = allowed(user, Can.VIEW_INTERNAL)
        mine = self.filter(in_engagements_of(user, "event__engagement", or_none=is_internal),
                           recipient=user)
        return mine if is_internal else mine.filter(event__is_for_customers=True)

    def unread(self) -> "NoticeQuerySet":
        return self.filter(read_at=None)

    def important(self) -> "NoticeQuerySet":
        return self.filter(event__kind__in=IMPORTANT)


class Notice(models.Model):
    """An event in a person's inbox."""

    event = models.ForeignKey(Event, models.CASCADE, related_name="notices")
    recipient = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE,
                                  related_name="notices")
    read_at = models.DateTimeField(null=True, blank=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["event", "recipient"], name="one_notice_each")
        ]
        indexes = [models.Index(fields=["recipient", "read_at"], name="unread_notices"),
                   models.Index(fields=["recipient", "-id"], name="notices_of_a_person")]
