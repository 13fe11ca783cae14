from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement


class Pace(models.TextChoices):
    """When a message leaves."""

    OFF = "off", _("Off")
    NOW = "now", _("At once")
    DAILY = "daily", _("Daily digest")


class Preference(models.Model):
    """What a person wants to hear of a kind of event; of one engagement, or of all."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE,
                             related_name="notice_preferences")
    engagement = models.ForeignKey(Engagement, models.CASCADE, null=True, blank=True,
                                   related_name="+")
    kind = models.CharField(max_length=40)
    in_inbox = models.BooleanField(_("in the inbox"), default=True)
    email = models.CharField(_("by e-mail"), max_length=8, choices=Pace, default=Pace.OFF)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["kind"]
        constraints = [
            models.UniqueConstraint(fields=["user", "engagement", "kind"],
                                    name="one_preference_per_engagement"),
            models.UniqueConstraint(fields=["user", "kind"],
                                    condition=models.Q(engagement=None),
                                    name="one_general_preference"),
        ]


class MailSetting(models.Model):
    """In which language a person's e-mails are written, and when none may arrive.

    Hours are those of Asia/Shanghai; a period may go past midnight.
    """

    class Language(models.TextChoices):
        CHINESE = "zh-hans", "中文"
        ENGLISH = "en", "English"

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE,
                                related_name="mail_setting")
    language = models.CharField(_("language of e-mails"), max_length=10, choices=Language,
                                blank=True)  # empty: that of the installation
    quiet_from = models.TimeField(_("no e-mail from"), null=True, blank=True)
    quiet_until = models.TimeField(_("until"), null=True, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(
            condition=models.Q(quiet_from=None, quiet_until=None)
            | models.Q(quiet_from__isnull=False, quiet_until__isnull=False),
            name="quiet_hours_have_both_ends")]

    @classmethod
    def language_of(cls, user_id: int) -> str:
        """The language that a person chose; "" for that of the installation."""
        return cls.objects.filter(user=user_id).values_list("language", flat=True).first() or ""
