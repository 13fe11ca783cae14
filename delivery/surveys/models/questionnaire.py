from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.engagement import localized


class Questionnaire(models.Model):
    """A version of the questions. Published once, never edited: answers refer to it."""

    version = models.PositiveSmallIntegerField(_("version"), unique=True)
    note = models.CharField(_("what is new"), max_length=240, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                   blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]

    def __str__(self) -> str:
        return f"V{self.version}"


class Question(models.Model):
    """One input of the questionnaire; `number` is the field of DOMAIN chapter 7.

    `condition` maps keys of other questions to the codes under which this one is asked.
    """

    class Type(models.TextChoices):
        TEXT = "text", _("Text")
        NUMBER = "number", _("Number")
        CHOICE = "choice", _("One of a list")
        MULTI = "multi", _("Several of a list")
        BOOL = "bool", _("Yes or no")
        DATE = "date", _("Date")
        FILE = "file", _("File or place")

    questionnaire = models.ForeignKey(Questionnaire, models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField(_("number"))
    key = models.SlugField(_("key"), max_length=40)
    section = models.SlugField(_("section"), max_length=40)
    section_label = models.CharField(max_length=80)
    section_label_en = models.CharField(max_length=80)
    label = models.CharField(_("question"), max_length=160)
    label_en = models.CharField(_("question (English)"), max_length=160)
    type = models.CharField(_("type"), max_length=8, choices=Type)
    unit = models.CharField(_("unit"), max_length=24, blank=True)
    options = models.JSONField(default=list, blank=True)
    is_required = models.BooleanField(_("required"), default=False)
    is_per_model = models.BooleanField(_("per model"), default=False)
    help = models.CharField(max_length=240, blank=True)
    help_en = models.CharField(max_length=240, blank=True)
    condition = models.JSONField(default=dict, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["questionnaire", "key"],
                                               name="question_key_unique")]

    def __str__(self) -> str:
        return f"{self.number} {self.localized_label}"

    @property
    def localized_label(self) -> str:
        return localized(self.label, self.label_en)

    @property
    def localized_help(self) -> str:
        return localized(self.help, self.help_en)

    @property
    def localized_section(self) -> str:
        return localized(self.section_label, self.section_label_en)


class QuestionnaireDraft(models.Model):
    """The next version while administrators work on it: one at a time, for all of them.

    `questions` are dictionaries as `publishing.publish_questionnaire` takes them.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    base = models.ForeignKey(Questionnaire, models.PROTECT, related_name="+")
    questions = models.JSONField(default=list)
    edits = models.PositiveIntegerField(default=0)  # counted up by each change
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1),
                                              name="one_questionnaire_draft")]

    def __str__(self) -> str:
        return f"{self.base} + {self.edits}"
